import type { Generator } from '@coplay/core';

/**
 * In a random share of rows, replaces beliefs by the uniform distribution over open goals.
 *
 * @param beliefs  [B, A, G] replaced; a goal is taken to be open where its belief isn't 0
 * @param generators  [B]
 * @param goals    G
 * @param chance   of each row, in [0, 1]
 */
export function makeUniform(
  beliefs: Float64Array,
  generators: readonly Generator[],
  goals: number,
  chance: number,
): void {
  const size = beliefs.length / generators.length;
  generators.forEach((generator, row) => {
    if (!(chance > 0) || generator.uniform() >= chance) return;
    for (let from = row * size; from < (row + 1) * size; from += goals) {
      const own = beliefs.subarray(from, from + goals);
      const open = own.reduce((count, belief) => count + (belief > 0 ? 1 : 0), 0);
      for (let goal = 0; goal < goals; goal++) own[goal] = own[goal] > 0 ? 1 / open : 0;
    }
  });
}
