import { constant, type GraphBuilder, type Value } from '../../graph';
import { reshape } from './arithmetic';
import { type ConvGeometry, count, float32, outShapeOf } from './conv-geometry';
import { joinPhases, type Phase, patches, phases, takeRows } from './conv-patches';
import { reduce } from './reductions';

/**
 * A depthwise convolution: patches times filter, added up over the taps.
 *
 * @param x      [N, ..., C]
 * @param filter [..., C, M]
 * @returns [N, ..., C M]
 */
export function depthwise(graph: GraphBuilder, x: Value, filter: Value, geometry: ConvGeometry): Value {
  const { batch, inChannels, outSizes, kernel } = geometry;
  const taps = count(kernel);
  const multiplier = multiplierOf(geometry);
  const columns = reshape(graph, patches(graph, x, geometry), [batch * count(outSizes), taps, inChannels, 1]);
  const weights = reshape(graph, filter, [taps, inChannels, multiplier]);
  return reshape(graph, reduce(graph, 'ReduceSum', times(graph, columns, weights), [1], false), outShapeOf(geometry));
}

/**
 * The gradient with respect to the input: as of a dense convolution, but each channel takes only what came of it.
 *
 * @param dy     [N, ..., C M]
 * @param filter [..., C, M]
 * @returns [N, ..., C]
 */
export function depthwiseInputGradient(graph: GraphBuilder, dy: Value, filter: Value, geometry: ConvGeometry): Value {
  const { batch, inChannels, outChannels, outSizes, kernel } = geometry;
  const split = phases(geometry);
  const flat = reshape(graph, dy, [batch, count(outSizes), outChannels]);
  const weights = reshape(graph, filter, [1, count(kernel), outChannels]);
  const parts = split.map((phase) => phaseGradient(graph, flat, weights, phase, inChannels));
  return joinPhases(graph, parts, split, geometry);
}

/** @returns [N, P, C] of dy [N, outputs, C M] and the filter's taps [1, T, C M] */
function phaseGradient(graph: GraphBuilder, dy: Value, filter: Value, phase: Phase, inChannels: number): Value {
  const { positions, taps, readers } = phase;
  const [batch, , outChannels] = dy.shape;
  const shape = [batch, positions.length, inChannels];
  if (taps.length === 0) return constant(new Float32Array(count(shape)), shape, 'float32');
  const rows = batch * positions.length;
  const columns = reshape(graph, takeRows(graph, dy, readers), [rows, taps.length, outChannels]);
  const byTap = reduce(graph, 'ReduceSum', times(graph, columns, takeRows(graph, filter, taps)), [1], false);
  const byChannel = reshape(graph, byTap, [rows, inChannels, outChannels / inChannels]);
  return reshape(graph, reduce(graph, 'ReduceSum', byChannel, [2], false), shape);
}

/**
 * The gradient with respect to the filter: patches times dy, added up over the positions.
 *
 * @param x  [N, ..., C]
 * @param dy [N, ..., C M]
 * @returns [..., C, M]
 */
export function depthwiseFilterGradient(graph: GraphBuilder, x: Value, dy: Value, geometry: ConvGeometry): Value {
  const { batch, inChannels, outSizes, kernel } = geometry;
  const rows = batch * count(outSizes);
  const multiplier = multiplierOf(geometry);
  const columns = reshape(graph, patches(graph, x, geometry), [rows, count(kernel), inChannels, 1]);
  const gradients = reshape(graph, dy, [rows, 1, inChannels, multiplier]);
  const sum = reduce(graph, 'ReduceSum', times(graph, columns, gradients), [0], false);
  return reshape(graph, sum, [...kernel, inChannels, multiplier]);
}

function multiplierOf({ inChannels, outChannels }: ConvGeometry): number {
  return outChannels / inChannels;
}

/** A product of values of the same rank but for leading axes, broadcast to each other. */
function times(graph: GraphBuilder, a: Value, b: Value): Value {
  const lead = a.shape.length - b.shape.length;
  const shape = a.shape.map((size, axis) => Math.max(size, axis < lead ? 1 : b.shape[axis - lead]));
  return graph.op('Mul', [a, b], float32(shape));
}
