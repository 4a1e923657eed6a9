import type { LeafRows, SearchNetworks } from '@coplay/planning';

/** Uniform priors over K actions and a value for each row; by default 0. */
export function uniform(actions: number, value: (rows: LeafRows, row: number) => number = () => 0): SearchNetworks {
  return {
    focal: (rows) => ({
      logits: new Float32Array(rows.rows * actions),
      values: Float32Array.from({ length: rows.rows }, (_, row) => value(rows, row)),
    }),
  };
}

/** Rows [n, K] of logits that rule out every action but one. */
export function only(actions: number, chosen: readonly number[]): Float32Array {
  const logits = new Float32Array(chosen.length * actions).fill(Number.NEGATIVE_INFINITY);
  chosen.forEach((action, row) => {
    logits[row * actions + action] = 0;
  });
  return logits;
}

/** Numbers in -1..1 that depend on all inputs, for networks whose answers can't be known beforehand. */
export function noiseOf(...numbers: readonly number[]): number {
  let hash = 0x9e3779b9;
  for (const number of numbers) {
    hash = Math.imul(hash ^ (number + 0x7f4a7c15), 0x85ebca6b);
    hash ^= hash >>> 15;
  }
  return Math.fround(((hash >>> 0) / 2 ** 32) * 2 - 1);
}

/** Networks whose answers are a fixed function of state, seat, player and goal. */
export function hashed(actions: number, stateSize: number): SearchNetworks {
  const salt = ({ states, seats, players }: LeafRows, row: number) => {
    const state = Array.from(states.subarray(row * stateSize, (row + 1) * stateSize));
    return [seats[row], players[row], ...state];
  };
  const logitsOf = (rows: LeafRows, goals?: Int32Array) =>
    Float32Array.from({ length: rows.rows * actions }, (_, i) => {
      const row = Math.floor(i / actions);
      return 2 * noiseOf(i % actions, goals?.[row] ?? -7, ...salt(rows, row));
    });
  return {
    focal: (rows) => ({
      logits: logitsOf(rows),
      values: Float32Array.from({ length: rows.rows }, (_, row) => noiseOf(99, ...salt(rows, row))),
    }),
    coPlayers: (rows) => logitsOf(rows, rows.goals),
  };
}
