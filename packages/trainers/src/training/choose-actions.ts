import type { Generator } from '@coplay/core';
import { sampleCategorical } from '@coplay/tensor/distributions';

/** Actions that were drawn from a policy. */
export interface ChosenActions {
  /** [B] */
  readonly actions: Int32Array;
  /** [B] of the actions */
  readonly logProbs: Float32Array;
}

/**
 * Draws an action for each row.
 *
 * @param logProbs  [B, K]
 * @param rows  B
 * @param K  number of actions
 */
export function chooseActions(logProbs: Float32Array, rows: number, K: number, generator: Generator): ChosenActions {
  const actions = sampleCategorical(logProbs, rows, K, generator);
  return { actions, logProbs: Float32Array.from(actions, (action, row) => logProbs[row * K + action]) };
}
