import { backend_util, slice_util, util } from '@tensorflow/tfjs-core';
import { type GraphBuilder, indices, reshape, type Value } from '../../graph';
import { kernel } from '../kernel';
import { cast } from './arithmetic';

/** Kernels that move numbers about. */
export function registerShapes(): void {
  registerReshapes();
  registerJoins();
  registerCuts();
}

function registerReshapes(): void {
  kernel<{ shape: number[] }>('Reshape', ({ inputs: { x }, attrs, graph }) => {
    const size = util.sizeFromShape([...x!.shape]);
    return reshape(graph, x!, util.inferFromImplicitShape(attrs.shape, size));
  });
  kernel<{ dim: number }>('ExpandDims', ({ inputs: { input }, attrs, graph }) => {
    const shape = [...input!.shape];
    shape.splice(attrs.dim < 0 ? attrs.dim + shape.length + 1 : attrs.dim, 0, 1);
    return reshape(graph, input!, shape);
  });
  kernel<{ perm: number[] }>('Transpose', ({ inputs: { x }, attrs, graph }) => transpose(graph, x!, attrs.perm));
  kernel<{ reps: number[] }>('Tile', ({ inputs: { x }, attrs, graph }) => {
    const shape = x!.shape.map((size, axis) => size * attrs.reps[axis]);
    return graph.op('Tile', [x, indices(attrs.reps)], { shape, dtype: x!.dtype });
  });
}

/** A value with its axes in another order; itself if the order is the same. */
export function transpose(graph: GraphBuilder, x: Value, perm: readonly number[]): Value {
  if (perm.every((from, to) => from === to)) return x;
  const shape = perm.map((axis) => x.shape[axis]);
  return graph.op('Transpose', [x], { shape, dtype: x.dtype }, { perm });
}

function registerJoins(): void {
  kernel<{ axis: number }>('Concat', ({ list, attrs, graph }) => {
    const axis = util.parseAxisParam(attrs.axis, [...list[0].shape])[0];
    return concat(graph, list, axis);
  });
  kernel<{ axis: number }>('Pack', ({ list, attrs, graph }) => {
    const rank = list[0].shape.length + 1;
    const axis = attrs.axis < 0 ? attrs.axis + rank : attrs.axis;
    const expanded = list.map((x) => reshape(graph, x, [...x.shape.slice(0, axis), 1, ...x.shape.slice(axis)]));
    return concat(graph, expanded, axis);
  });
}

/**
 * Values one after another along an axis. Empty ones are left out: some of ONNX Runtime's kernels stumble over them.
 */
export function concat(graph: GraphBuilder, list: readonly Value[], axis: number): Value {
  const full = list.filter(({ shape }) => shape[axis] > 0);
  const parts = full.length > 0 ? full : list.slice(0, 1);
  if (parts.length === 1) return parts[0];
  const { dtype } = parts[0];
  const shape = [...parts[0].shape];
  shape[axis] = parts.reduce((sum, part) => sum + part.shape[axis], 0);
  return graph.op(
    'Concat',
    parts.map((part) => cast(graph, part, dtype)),
    { shape, dtype },
    { axis },
  );
}

function registerCuts(): void {
  kernel<{ dims: number | number[] }>('Reverse', ({ inputs: { x }, attrs, graph }) => {
    const rank = x!.shape.length;
    return rank === 0 ? x! : reverse(graph, x!, util.parseAxisParam(attrs.dims, [...x!.shape]));
  });
  kernel<{ numOrSizeSplits: number[] | number; axis: number }>('SplitV', ({ inputs: { x }, attrs, graph }) => {
    const axis = util.parseAxisParam(attrs.axis, [...x!.shape])[0];
    const like = { shape: [...x!.shape] } as Parameters<typeof backend_util.prepareSplitSize>[0];
    return split(graph, x!, backend_util.prepareSplitSize(like, attrs.numOrSizeSplits, axis), axis);
  });
  kernel<{ axis: number }>('Unpack', ({ inputs: { value }, attrs, graph }) => {
    const x = value!;
    const axis = attrs.axis < 0 ? attrs.axis + x.shape.length : attrs.axis;
    const shape = x.shape.filter((_, i) => i !== axis);
    const parts = split(graph, x, Array(x.shape[axis]).fill(1), axis);
    return parts.map((part) => reshape(graph, part, shape));
  });
  kernel<{ begin: number | number[]; size: number | number[] }>('Slice', ({ inputs: { x }, attrs, graph }) => {
    const like = { shape: [...x!.shape] } as Parameters<typeof slice_util.parseSliceParams>[0];
    const [begin, size] = slice_util.parseSliceParams(like, attrs.begin, attrs.size);
    return slice(graph, x!, begin, size);
  });
}

/** A value cut along an axis into parts of these sizes. */
function split(graph: GraphBuilder, x: Value, sizes: readonly number[], axis: number): readonly Value[] {
  if (sizes.length === 1) return [x];
  const parts = sizes.map((size) => ({ shape: x.shape.map((d, i) => (i === axis ? size : d)), dtype: x.dtype }));
  return graph.ops('Split', [x, indices(sizes)], parts, { axis });
}

/** A block of a value; axes that are taken whole aren't mentioned. */
export function slice(graph: GraphBuilder, x: Value, begin: readonly number[], size: readonly number[]): Value {
  const axes = [...x.shape.keys()].filter((axis) => begin[axis] !== 0 || size[axis] !== x.shape[axis]);
  if (axes.length === 0) return x;
  const starts = axes.map((axis) => begin[axis]);
  const ends = axes.map((axis) => begin[axis] + size[axis]);
  return graph.op('Slice', [x, indices(starts), indices(ends), indices(axes)], { shape: size, dtype: x.dtype });
}

/** A value with the order along some axes reversed. */
export function reverse(graph: GraphBuilder, x: Value, axes: readonly number[]): Value {
  if (axes.length === 0) return x;
  const every = (entry: number) => indices(axes.map(() => entry));
  // From the last entry to before the first: an end that far down is cut to that.
  const ends = every(-(2 ** 31));
  return graph.op('Slice', [x, every(-1), ends, indices(axes), every(-1)], x);
}
