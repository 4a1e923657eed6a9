import { fail, type Generator } from '@coplay/core';
import { checkArgument, checkCount, checkFunction, typedArrays } from '@coplay/core/checks';
import { drawIndex } from '@coplay/core/rows';

const floats = typedArrays('float32');

/**
 * One action per row, drawn by inverting the cumulative distribution; one number of the generator per row.
 * An action of probability 0 is never drawn.
 *
 * @param logProbs  [rows, K]; they needn't be normalised
 * @param actions   K
 * @returns [rows] in 0..K-1
 */
export function sampleCategorical(
  logProbs: Float32Array,
  rows: number,
  actions: number,
  generator: Generator,
): Int32Array {
  checkLength('sampleCategorical', logProbs, rows, actions);
  checkFunction('sampleCategorical', 'generator.uniform', generator?.uniform);
  const chosen = new Int32Array(rows);
  const weights = new Float64Array(actions);
  for (let row = 0; row < rows; row++) {
    const total = exponentiate(logProbs, row * actions, weights);
    if (!(total > 0 && total < Infinity)) {
      fail(
        'sampleCategorical',
        'finite log-probabilities',
        `a total probability of ${total} in row ${row}`,
        'Look for NaN in the policy.',
      );
    }
    chosen[row] = drawIndex(weights, generator);
  }
  return chosen;
}

/**
 * The most probable action of each row; the first one of equals.
 *
 * @param values  [rows, K]
 * @param actions K
 * @returns [rows] in 0..K-1
 */
export function argmaxRows(values: Float32Array, rows: number, actions: number): Int32Array {
  checkLength('argmaxRows', values, rows, actions);
  const chosen = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    const start = row * actions;
    let best = 0;
    for (let action = 1; action < actions; action++) if (values[start + action] > values[start + best]) best = action;
    chosen[row] = best;
  }
  return chosen;
}

/** Writes the probabilities of a row, and returns their sum. */
function exponentiate(logProbs: Float32Array, start: number, weights: Float64Array): number {
  let total = 0;
  for (let action = 0; action < weights.length; action++) {
    weights[action] = Math.exp(logProbs[start + action]);
    total += weights[action];
  }
  return total;
}

function checkLength(where: string, values: Float32Array, rows: number, actions: number): void {
  checkArgument(where, where === 'argmaxRows' ? 'values' : 'logProbs', floats, values);
  checkCount(where, 'rows', rows);
  checkCount(where, 'actions', actions, 1);
  if (values.length === rows * actions) return;
  fail(
    where,
    `${rows} x ${actions} = ${rows * actions} numbers`,
    `${values.length}`,
    'Give rows times actions values.',
  );
}
