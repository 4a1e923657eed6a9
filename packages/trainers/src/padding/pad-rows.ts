import { allocate, dtypeOf, type NamedArrays } from '@coplay/core';

/** The power of two at or above a number of rows: numbers that change in every update then take few values, each a graph to compile. */
export function paddedCount(rows: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, rows)));
}

/** Arrays [B, ...] filled up to `count` rows with zeros; numbers without rows stay as they are. */
export function padRows(arrays: NamedArrays, count: number): NamedArrays {
  return Object.fromEntries(
    Object.entries(arrays).map(([name, array]) => {
      const { data, shape } = array;
      if (shape.length === 0 || shape[0] === count) return [name, array];
      const size = data.length / shape[0];
      const padded = allocate(dtypeOf(data), count * size);
      padded.set(data as Float32Array);
      return [name, { data: padded, shape: [count, ...shape.slice(1)] }];
    }),
  );
}
