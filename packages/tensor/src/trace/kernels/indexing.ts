import { backend_util, util } from '@tensorflow/tfjs-core';
import {
  constant,
  elements,
  type GraphBuilder,
  indices,
  reshape,
  scalar,
  type Value,
  type ValueType,
} from '../../graph';
import { kernel } from '../kernel';
import { cast, compare, elementwise, where } from './arithmetic';
import { filled } from './constants';
import { reduce } from './reductions';
import { slice, transpose } from './shapes';

/**
 * Kernels that look up and scatter by indices. Indices beyond the end fail when the graph runs; negative ones count
 * from the end.
 */
export function registerIndexing(): void {
  kernel<{ axis: number; batchDims: number }>('GatherV2', ({ inputs: { x, indices: places }, attrs, graph }) =>
    gather(graph, x!, cast(graph, places!, 'int32'), attrs.axis, attrs.batchDims ?? 0),
  );
  kernel('GatherNd', ({ inputs: { params, indices: places }, graph }) => {
    const depth = places!.shape.at(-1)!;
    const shape = [...places!.shape.slice(0, -1), ...params!.shape.slice(depth)];
    return graph.op('GatherND', [params, cast(graph, places!, 'int64')], { shape, dtype: params!.dtype });
  });
  kernel<{ depth: number; onValue: number; offValue: number; dtype: ValueType }>(
    'OneHot',
    ({ inputs: { indices: places }, attrs, graph }) => oneHot(graph, places!, attrs),
  );
  kernel<{ numSegments: number }>('UnsortedSegmentSum', ({ inputs: { x, segmentIds }, attrs, graph }) => {
    const ids = segmentIds!.shape;
    const inner = x!.shape.slice(ids.length);
    const rows = elements(segmentIds!);
    const flat = reshape(graph, x!, [rows, elements(x!) / Math.max(1, rows)]);
    const sums = segmentSum(graph, flat, reshape(graph, segmentIds!, [rows]), attrs.numSegments);
    return reshape(graph, sums, [attrs.numSegments, ...inner]);
  });
  kernel<{ shape: number[] }>('ScatterNd', ({ inputs: { indices: places, updates }, attrs, graph }) =>
    scatter(graph, places!, updates!, attrs.shape),
  );
  kernel('TensorScatterUpdate', ({ inputs: { tensor, indices: places, updates }, graph }) =>
    overwrite(graph, tensor!, places!, cast(graph, updates!, tensor!.dtype)),
  );
}

/** Rows of `x` along an axis. With batchDims b the first b axes of `x` and the indices go together. */
function gather(graph: GraphBuilder, x: Value, places: Value, axisParam: number, batchDims: number): Value {
  const axis = util.parseAxisParam(axisParam, [...x.shape])[0];
  const shared = batchDims < 0 ? batchDims + places.shape.length : batchDims;
  const picked = places.shape.slice(shared);
  const shape = [...x.shape.slice(0, axis), ...picked, ...x.shape.slice(axis + 1)];
  if (x.shape.length === 1 && shared === 0) return gatherNumbers(graph, x, places);
  if (shared === 0) return graph.op('Gather', [x, places], { shape, dtype: x.dtype }, { axis });
  const size = (from: number, to?: number) => util.sizeFromShape(x.shape.slice(from, to));
  const [batch, outer, length, inner] = [size(0, shared), size(shared, axis), x.shape[axis], size(axis + 1)];
  const lookups = util.sizeFromShape(picked);
  // GatherND looks up the first axis after the batch axes.
  const table = transpose(graph, reshape(graph, x, [batch, outer, length, inner]), [0, 2, 1, 3]);
  const keys = reshape(graph, cast(graph, places, 'int64'), [batch, lookups, 1]);
  const spec = { shape: [batch, lookups, outer, inner], dtype: x.dtype };
  const rows = graph.op('GatherND', [table, keys], spec, { batch_dims: 1 });
  return reshape(graph, transpose(graph, rows, [0, 2, 1, 3]), shape);
}

/** Single numbers of a vector: GatherElements looks them up three times as fast as Gather, which copies slices. */
function gatherNumbers(graph: GraphBuilder, x: Value, places: Value): Value {
  const count = [elements(places)];
  const picked = graph.op('GatherElements', [x, reshape(graph, places, count)], { shape: count, dtype: x.dtype });
  return reshape(graph, picked, places.shape);
}

interface OneHotAttrs {
  readonly depth: number;
  readonly onValue: number;
  readonly offValue: number;
  readonly dtype: ValueType;
}

/** By comparison with 0 .. depth - 1: ONNX's OneHot lets negative indices count from the end. */
function oneHot(graph: GraphBuilder, places: Value, { depth, onValue, offValue, dtype }: OneHotAttrs): Value {
  const column = reshape(graph, cast(graph, places, 'int32'), [...places.shape, 1]);
  const isHere = elementwise(graph, 'Equal', column, count(depth), 'bool');
  if (onValue === 1 && offValue === 0) return cast(graph, isHere, dtype);
  return cast(graph, where(graph, isHere, scalar(onValue), scalar(offValue)), dtype);
}

/** 0, 1, ... length - 1 */
function count(length: number): Value {
  return constant(
    Int32Array.from({ length }, (_, i) => i),
    [length],
    'int32',
  );
}

/** Up to here a product with a 0-1 matrix is faster than ONNX Runtime's ScatterElements (about 11 ns a number). */
const MAX_MATRIX_SEGMENTS = 512;

/**
 * [segments, inner] the sums of those rows of `x` that have the same id; ids outside of 0 .. segments - 1 count
 * nowhere. Not by ScatterND: with several threads ONNX Runtime 1.30 loses additions to the same row.
 *
 * @param x   [rows, inner]
 * @param ids [rows] int32
 * @param limit up to as many segments by a matrix, in which NaN and infinity of a row reach every segment
 */
function segmentSum(graph: GraphBuilder, x: Value, ids: Value, segments: number, limit = MAX_MATRIX_SEGMENTS): Value {
  const [rows, inner] = x.shape;
  if (rows === 0 || inner === 0) return filled([segments, inner], 0, x.dtype);
  if (segments <= limit) {
    const isHere = elementwise(graph, 'Equal', reshape(graph, count(segments), [segments, 1]), ids, 'bool');
    return graph.op('MatMul', [cast(graph, isHere, x.dtype), x], { shape: [segments, inner], dtype: x.dtype });
  }
  const isOut = elementwise(
    graph,
    'Or',
    compare(graph, 'Less', ids, 0),
    compare(graph, 'GreaterOrEqual', ids, segments),
  );
  const places = where(graph, isOut, scalar(segments, 'int32'), ids); // one row more takes what belongs nowhere
  const spread = broadcast(graph, reshape(graph, places, [rows, 1]), [rows, inner]);
  const zeros = broadcast(graph, scalar(0, x.dtype), [segments + 1, inner]);
  const sums = graph.op('ScatterElements', [zeros, spread, x], zeros, { axis: 0, reduction: 'add' });
  return slice(graph, sums, [0, 0], [segments, inner]);
}

/** A value repeated along axes of size 1. */
function broadcast(graph: GraphBuilder, x: Value, shape: readonly number[]): Value {
  return graph.op('Expand', [x, indices(shape)], { shape, dtype: x.dtype });
}

/** Zeros of a shape with the updates added where the indices point. */
function scatter(graph: GraphBuilder, places: Value, updates: Value, shape: readonly number[]): Value {
  const info = backend_util.calculateShapes(like(updates), like(places), [...shape]);
  const { sliceRank, numUpdates, sliceSize, outputSize } = info;
  const keys = reshape(graph, cast(graph, places, 'int32'), [numUpdates, sliceRank]);
  const strides = constant(Int32Array.from(info.strides.slice(0, sliceRank)), [sliceRank], 'int32');
  const ids = reduce(graph, 'ReduceSum', elementwise(graph, 'Mul', keys, strides), [1], false);
  const sums = segmentSum(graph, reshape(graph, updates, [numUpdates, sliceSize]), ids, outputSize / sliceSize, 0);
  return reshape(graph, sums, shape);
}

/**
 * A copy of `x` with the updates where the indices point. ScatterElements, where it will do, is three times as fast as
 * ScatterND, and works in place.
 */
function overwrite(graph: GraphBuilder, x: Value, places: Value, updates: Value): Value {
  if (x.shape.length > 1) return graph.op('ScatterND', [x, cast(graph, places, 'int64'), updates], x);
  const count = [elements(updates)];
  const keys = reshape(graph, cast(graph, places, 'int32'), count);
  return graph.op('ScatterElements', [x, keys, reshape(graph, updates, count)], x, { axis: 0 });
}

/** A shape in the form that tfjs's helpers take. */
function like({ shape }: Value): Parameters<typeof backend_util.calculateShapes>[0] {
  return { shape: [...shape], rank: shape.length } as never;
}
