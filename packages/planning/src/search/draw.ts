import type { Generator } from '@coplay/core';

/**
 * Draws an index in proportion to weights; those at or below 0 are never drawn.
 *
 * @param weights  `count` of them from `offset` on
 * @returns 0..count-1, or -1 where no weight is above 0
 */
export function drawIndex(
  weights: Float32Array | Float64Array,
  offset: number,
  count: number,
  generator: Generator,
): number {
  let sum = 0;
  for (let i = offset; i < offset + count; i++) if (weights[i] > 0) sum += weights[i];
  if (sum === 0) return -1;
  let left = generator.uniform() * sum;
  let last = -1;
  for (let i = 0; i < count; i++) {
    const weight = weights[offset + i];
    if (!(weight > 0)) continue;
    last = i;
    left -= weight;
    if (left < 0) break;
  }
  return last;
}
