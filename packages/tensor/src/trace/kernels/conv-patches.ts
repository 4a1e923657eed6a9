import { constant, type GraphBuilder, indices, reshape, type Value } from '../../graph';

import { type ConvGeometry, combinations, count, flatIndex, float32, range } from './conv-geometry';

/**
 * The inputs under the filter at each position of the output, zeros for padding. The same node for the forward pass and
 * for the gradient of the filter, so that common subexpressions are found.
 *
 * @param x [N, ..., C]
 * @returns [N, P, T, C] for P positions of the output and T taps of the filter
 */
export function patches(graph: GraphBuilder, x: Value, geometry: ConvGeometry): Value {
  const { inSizes, outSizes, kernel, strides, dilations, before, inChannels } = geometry;
  const taps = combinations(kernel.map(range));
  const positions = combinations(outSizes.map(range));
  const rows = positions.flatMap((position) =>
    taps.map((tap) => {
      const source = position.map((at, axis) => at * strides[axis] + tap[axis] * dilations[axis] - before[axis]);
      return flatIndex(source, inSizes);
    }),
  );
  const [batch] = x.shape;
  const flat = reshape(graph, x, [batch, count(inSizes), inChannels]);
  return reshape(graph, takeRows(graph, flat, rows), [batch, positions.length, taps.length, inChannels]);
}

/**
 * What reads each position of the input: for each tap of the filter the position of the output that has it there, zeros
 * where there's none (most of them, if the stride isn't 1). Patches of dy, so to speak.
 *
 * @param dy [N, ..., O]
 * @returns [N, Q, T, O] for Q positions of the input and T taps of the filter
 */
export function readers(graph: GraphBuilder, dy: Value, geometry: ConvGeometry): Value {
  const { inSizes, outSizes, kernel, strides, dilations, before, outChannels } = geometry;
  const taps = combinations(kernel.map(range));
  const positions = combinations(inSizes.map(range));
  const rows = positions.flatMap((position) =>
    taps.map((tap) => {
      const reader = position.map((at, axis) => (at + before[axis] - tap[axis] * dilations[axis]) / strides[axis]);
      return reader.every(Number.isInteger) ? flatIndex(reader, outSizes) : count(outSizes);
    }),
  );
  const [batch] = dy.shape;
  const flat = reshape(graph, dy, [batch, count(outSizes), outChannels]);
  return reshape(graph, takeRows(graph, flat, rows), [batch, positions.length, taps.length, outChannels]);
}

/**
 * Rows of every matrix of a batch: one Gather, which copies whole rows on all threads. (A slice for each tap and a
 * Concat take two to four times as long.) A row number past the end means zeros.
 *
 * @param x [N, P, C]
 * @returns [N, rows.length, C]
 */
export function takeRows(graph: GraphBuilder, x: Value, rows: readonly number[]): Value {
  const [batch, height, channels] = x.shape;
  if (rows.length === height && rows.every((row, i) => row === i)) return x;
  const source = rows.includes(height)
    ? graph.op('Pad', [x, indices([0, 0, 0, 0, 1, 0])], float32([batch, height + 1, channels]))
    : x;
  const index = constant(Int32Array.from(rows), [rows.length], 'int32');
  return graph.op('Gather', [source, index], float32([batch, rows.length, channels]), { axis: 1 });
}
