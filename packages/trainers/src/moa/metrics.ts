import { argmaxRows } from '@coplay/tensor';

/** Share of rows whose most likely action was the one taken. */
export function topOne(logProbs: Float32Array, actions: Int32Array, actionCount: number): number {
  const guesses = argmaxRows(logProbs, actions.length, actionCount);
  let hits = 0;
  for (let row = 0; row < actions.length; row++) if (guesses[row] === actions[row]) hits++;
  return hits / actions.length;
}
