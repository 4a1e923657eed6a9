import type { ObservationField, Scene } from '@coplay/core';

/** Numbers nearer to each other than this are the same: a model's are float32. */
const TOLERANCE = 1e-6;

/** One channel of a field of planes as it was and as it was predicted. */
export interface ChannelPair {
  readonly name: string;
  /** [H * W] */
  readonly actual: readonly number[];
  /** [H * W]; undefined where there is no prediction */
  readonly foretold: readonly number[] | undefined;
  /** Places at which both differ. */
  readonly differing: readonly number[];
}

/** The cells, in reading order, in which two pictures of one grid don't show the same things. */
export function differingCells(actual: Scene, foretold: Scene): number[] {
  const [before, after] = [thingsByCell(actual), thingsByCell(foretold)];
  return before.flatMap((things, cell) => (things === after[cell] ? [] : [cell]));
}

function thingsByCell({ rows, columns, items }: Scene): string[] {
  const cells: string[][] = Array.from({ length: rows * columns }, () => []);
  for (const { kind, symbol, row, column } of items) cells[row * columns + column]?.push(`${kind} ${symbol}`);
  return cells.map((things) => things.sort().join('\n'));
}

/** Whether a field is planes [H, W, C]. */
export function isPlanes({ shape }: ObservationField): boolean {
  return shape.length === 3;
}

/** The channels of planes [H, W, C], or a vector as one channel of its own. */
export function channelPairs(
  name: string,
  field: ObservationField,
  actual: readonly number[],
  foretold: readonly number[] | undefined,
): ChannelPair[] {
  const count = isPlanes(field) ? field.shape[2] : 1;
  return Array.from({ length: count }, (_, c) => {
    const own = everyNth(actual, count, c);
    const other = foretold && everyNth(foretold, count, c);
    return {
      name: isPlanes(field) ? (field.channels?.[c] ?? `${name} ${c}`) : name,
      actual: own,
      foretold: other,
      differing: other ? own.flatMap((value, i) => (Math.abs(value - other[i]) <= TOLERANCE ? [] : [i])) : [],
    };
  });
}

function everyNth(values: readonly number[], n: number, first: number): number[] {
  const taken: number[] = [];
  for (let i = first; i < values.length; i += n) taken.push(values[i]);
  return taken;
}
