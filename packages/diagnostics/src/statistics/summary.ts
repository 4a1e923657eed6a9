import { checkNumber, checkNumbers } from '@coplay/core/checks';

/** Arithmetic mean. @throws CoplayError for no values */
export function mean(values: ArrayLike<number>): number {
  checkValues('mean', values, 1);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum / values.length;
}

/** Sample variance, with divisor n - 1. @throws CoplayError for fewer than two values */
export function variance(values: ArrayLike<number>): number {
  checkValues('variance', values, 2);
  const centre = mean(values);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] - centre) ** 2;
  return sum / (values.length - 1);
}

/** Sample standard deviation, with divisor n - 1. @throws CoplayError for fewer than two values */
export function standardDeviation(values: ArrayLike<number>): number {
  checkValues('standardDeviation', values, 2);
  return Math.sqrt(variance(values));
}

/**
 * The quantile at `probability`, linear between the order statistics (Hyndman and Fan 1996, type 7: numpy's default).
 *
 * @param probability  in [0, 1]
 * @throws CoplayError for no values or a probability outside
 */
export function quantile(values: ArrayLike<number>, probability: number): number {
  checkValues('quantile', values, 1);
  checkNumber('quantile', 'probability', probability, { min: 0, max: 1 });
  return quantileOfSorted(sorted(values), probability);
}

/** {@link quantile} of values that are sorted already. */
export function quantileOfSorted(values: ArrayLike<number>, probability: number): number {
  const position = probability * (values.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, values.length - 1);
  return values[below] + (position - below) * (values[above] - values[below]);
}

/** The middle value, or the mean of the two in the middle. @throws CoplayError for no values */
export function median(values: ArrayLike<number>): number {
  checkValues('median', values, 1);
  return quantileOfSorted(sorted(values), 0.5);
}

/**
 * Interquartile mean: the mean of the remaining values when floor(n / 4) are dropped at each end (Agarwal et al. 2021,
 * rliable). Less swayed by one lucky seed than the mean, more precise than the median.
 *
 * @throws CoplayError for no values
 */
export function interquartileMean(values: ArrayLike<number>): number {
  checkValues('interquartileMean', values, 1);
  const cut = Math.floor(values.length / 4);
  return mean(sorted(values).subarray(cut, values.length - cut));
}

function sorted(values: ArrayLike<number>): Float64Array {
  return Float64Array.from(values).sort();
}

/** Refuses too few values, and values that aren't finite: they would make every figure NaN. */
export function checkValues(where: string, values: ArrayLike<number>, least: number, name = 'values'): void {
  checkNumbers(where, name, values, { atLeast: least });
}
