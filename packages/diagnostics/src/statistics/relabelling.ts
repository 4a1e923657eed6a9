import type { Generator } from '@coplay/core';

/** All orders of 0..n-1, n! rows; the first is the identity. */
export function permutationsOf(n: number): number[][] {
  if (n === 0) return [[]];
  const shorter = permutationsOf(n - 1);
  const orders: number[][] = [];
  // The last entry first stands at the end, then moves forward.
  for (let place = n - 1; place >= 0; place--) {
    for (const order of shorter) orders.push([...order.slice(0, place), n - 1, ...order.slice(place)]);
  }
  return orders;
}

/**
 * Visits the sums over rows for every way to permute each row but the first. Permuting the first as well would only
 * repeat these, with the agents renamed.
 *
 * @param visit  is given [A] sums, valid during the call
 */
export function forEachRelabelling(
  rows: readonly ArrayLike<number>[],
  orders: readonly (readonly number[])[],
  visit: (sums: Float64Array) => void,
): void {
  const partial = rows.map((row) => Float64Array.from(row));
  const descend = (depth: number) => {
    if (depth === rows.length) return visit(partial[depth - 1]);
    const above = partial[depth - 1];
    const sums = partial[depth];
    for (const order of orders) {
      for (let agent = 0; agent < sums.length; agent++) sums[agent] = above[agent] + rows[depth][order[agent]];
      descend(depth + 1);
    }
  };
  descend(1);
}

/** Shuffles each row by itself, in place. */
export function shuffleRows(rows: readonly Float64Array[], generator: Generator): void {
  for (const row of rows) generator.shuffle(row);
}
