import { constant, type GraphBuilder, indices, type Value } from '../../graph';
import { reshape } from './arithmetic';
import { type ConvGeometry, combinations, count, flatIndex, float32, range } from './conv-geometry';
import { concat } from './shapes';

/**
 * What the filter sees at each position of the output, zeros where that's padding. The same node for the forward pass and for
 * the gradient of the filter, so that common subexpressions are found.
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
 * Rows of every matrix of a batch: one Gather, which copies whole rows on all threads. (A slice for each tap and a Concat take
 * two to four times as long.) A row number past the end means zeros.
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

/** Positions of the input that the same taps of the filter reach. */
export interface Phase {
  /** Positions, as numbers in the list of all. */
  readonly positions: readonly number[];
  /** Taps that reach them, as numbers in the list of all. */
  readonly taps: readonly number[];
  /** For each position and tap: the position of the output that read it there; past the end if there's none. */
  readonly readers: readonly number[];
}

/** The input taken apart by what is left when a position is divided by the stride; one phase if that is 1. */
export function phases(geometry: ConvGeometry): readonly Phase[] {
  const { kernel, strides } = geometry;
  const split = combinations(strides.map(range)).map((remainder): Phase => {
    const taps = combinations(
      kernel.map((size, axis) => range(size).filter((tap) => tapMeets(geometry, axis, tap, remainder[axis]))),
    );
    const positions = combinations(
      geometry.inSizes.map((size, axis) =>
        range(size).filter((at) => (at + geometry.before[axis]) % strides[axis] === remainder[axis]),
      ),
    );
    return {
      positions: positions.map((position) => flatIndex(position, geometry.inSizes)),
      taps: taps.map((tap) => flatIndex(tap, kernel)),
      readers: positions.flatMap((position) => taps.map((tap) => readerOf(geometry, position, tap))),
    };
  });
  return split.filter(({ positions }) => positions.length > 0);
}

function tapMeets({ strides, dilations }: ConvGeometry, axis: number, tap: number, remainder: number): boolean {
  return (tap * dilations[axis]) % strides[axis] === remainder;
}

function readerOf(geometry: ConvGeometry, position: readonly number[], tap: readonly number[]): number {
  const { outSizes, strides, dilations, before } = geometry;
  const reader = position.map((at, axis) => (at + before[axis] - tap[axis] * dilations[axis]) / strides[axis]);
  return flatIndex(reader, outSizes);
}

/** Puts what was worked out for each phase, [N, its positions, C], back in the order of the input: [N, ..., C]. */
export function joinPhases(
  graph: GraphBuilder,
  parts: readonly Value[],
  split: readonly Phase[],
  { inSizes }: ConvGeometry,
): Value {
  const joined = concat(graph, parts, 1);
  const order = split.flatMap(({ positions }) => positions);
  const places = new Array<number>(order.length);
  order.forEach((position, place) => {
    places[position] = place;
  });
  const [batch, , channels] = joined.shape;
  return reshape(graph, takeRows(graph, joined, places), [batch, ...inSizes, channels]);
}
