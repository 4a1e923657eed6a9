import { z } from 'zod';
import { checkNumbers } from './check-values';
import { checkOptions, fail, show } from './errors';

/** Options of {@link normaliseAdvantages}. */
export interface NormaliseOptions {
  /** Degrees of freedom taken from the count in the variance: 1 is unbiased (CleanRL), 0 is not (MAPPO). Default 1 */
  readonly ddof?: 0 | 1;
  /** Added to the standard deviation; above 0. Default 1e-8 */
  readonly epsilon?: number;
}

const normaliseSchema = z.strictObject({
  ddof: z.literal([0, 1]).default(1),
  epsilon: z.number().min(0).default(1e-8),
});

/**
 * Advantages with mean 0 and standard deviation 1: (A - mean) / (std + epsilon).
 *
 * Weighted: mean = sum w A / sum w, var = sum w (A - mean)^2 / sum w x n / (n - ddof), n the number of rows with a
 * weight above 0. With weights 0 and 1 that is the plain variance of the rows that count.
 * A single row and a constant give 0, never NaN.
 *
 * @param advantages  [B]
 * @param weights     [B] at least 0; a row of weight 0 counts for nothing, even where its advantage is NaN. All 1 by
 *                    default
 * @returns [B]; 0 where the weight is 0
 */
export function normaliseAdvantages(
  advantages: ArrayLike<number>,
  weights?: ArrayLike<number>,
  options: NormaliseOptions = {},
): Float32Array {
  const { ddof, epsilon } = checkOptions('normaliseAdvantages', normaliseSchema, options);
  checkNumbers('normaliseAdvantages', 'advantages', advantages, { nan: true });
  checkWeights('normaliseAdvantages', advantages, weights);
  const { count, mean, variance } = moments(advantages, weights);
  const normalised = new Float32Array(advantages.length);
  if (count <= ddof) return normalised;
  const scale = Math.sqrt((variance * count) / (count - ddof)) + epsilon;
  for (let i = 0; i < normalised.length; i++) {
    if (weights === undefined || weights[i] > 0) normalised[i] = (advantages[i] - mean) / scale;
  }
  return normalised;
}

/**
 * How much of the returns' variance the critic explains: 1 - Var(R - V) / Var(R). 1 is perfect, 0 no better than a
 * constant, negative worse. Returns that are all equal have no variance to explain: 0.
 *
 * @param values   [B] predicted
 * @param returns  [B] what came
 * @param weights  [B] at least 0; rows of weight 0 count for nothing. All 1 by default
 * @throws CoplayError where no row counts
 */
export function explainedVariance(
  values: ArrayLike<number>,
  returns: ArrayLike<number>,
  weights?: ArrayLike<number>,
): number {
  checkNumbers('explainedVariance', 'returns', returns, { nan: true });
  checkNumbers('explainedVariance', 'values', values, { nan: true });
  checkWeights('explainedVariance', returns, weights);
  if (values.length !== returns.length) {
    fail('explainedVariance', `${returns.length} values`, show(values), 'Give one value for each return.');
  }
  const errors = new Float64Array(returns.length);
  for (let i = 0; i < errors.length; i++) errors[i] = returns[i] - values[i];
  const { count, variance } = moments(returns, weights);
  if (count === 0) {
    const remedy = 'Leave the figure out where nothing was measured.';
    fail('explainedVariance', 'at least one return with a weight above 0', 'none', remedy);
  }
  return variance === 0 ? 0 : 1 - moments(errors, weights).variance / variance;
}

/**
 * Weighted mean and (biased) variance. Sums are taken about the first row, so that a constant has variance 0 exactly.
 */
function moments(values: ArrayLike<number>, weights: ArrayLike<number> | undefined) {
  let origin = Number.NaN;
  let count = 0;
  let total = 0;
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const weight = weights === undefined ? 1 : weights[i];
    if (weight === 0) continue;
    if (count === 0) origin = values[i];
    count++;
    total += weight;
    sum += weight * (values[i] - origin);
  }
  const shift = sum / total;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    const weight = weights === undefined ? 1 : weights[i];
    if (weight > 0) squares += weight * (values[i] - origin - shift) ** 2;
  }
  return { count, mean: origin + shift, variance: count === 0 ? 0 : squares / total };
}

function checkWeights(where: string, values: ArrayLike<number>, weights: ArrayLike<number> | undefined): void {
  if (weights === undefined) return;
  checkNumbers(where, 'weights', weights, { nan: true });
  if (weights.length !== values.length) {
    fail(where, `${values.length} weights`, show(weights), 'Give one weight for each row.');
  }
  for (let i = 0; i < weights.length; i++) {
    if (!(weights[i] >= 0 && weights[i] < Infinity)) {
      fail(where, 'weights that are finite and at least 0', `${weights[i]} in row ${i}`, 'Change that weight.');
    }
  }
}
