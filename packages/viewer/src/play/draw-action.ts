import { fail, type Generator } from '@coplay/core';
import { drawIndex } from '@coplay/core/rows';

/**
 * Draws an action, as trained agents do: the first whose cumulative probability exceeds a uniform number.
 *
 * @param logProbs  the K values from `start` on
 * @returns 0..K-1
 */
export function drawAction(logProbs: Float32Array, start: number, K: number, generator: Generator): number {
  const weights = Float64Array.from(logProbs.subarray(start, start + K), Math.exp);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (!(total > 0 && total < Number.POSITIVE_INFINITY)) {
    fail('onnxAgent', 'finite log-probabilities', `a total probability of ${total}`, 'Look for NaN in the policy.');
  }
  return drawIndex(weights, generator);
}
