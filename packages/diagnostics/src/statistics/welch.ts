import { incompleteBeta } from './beta';
import { checkValues, mean, variance } from './summary';

/** What {@link welchTest} found. */
export interface WelchResult {
  /** Student's t of the difference of means, first - second. */
  readonly t: number;
  /** Degrees of freedom (Welch and Satterthwaite). */
  readonly degreesOfFreedom: number;
  /** Two-sided. */
  readonly pValue: number;
}

/**
 * Welch's t-test: do two samples, whose variances may differ, have the same mean (Welch 1947)? For seeds that are few
 * or far from normal {@link twoSamplePermutationTest} assumes less.
 *
 * @param first   [n], n >= 2
 * @param second  [m], m >= 2
 * @throws CoplayError for fewer than two values
 */
export function welchTest(first: ArrayLike<number>, second: ArrayLike<number>): WelchResult {
  checkValues('welchTest', first, 2, 'first');
  checkValues('welchTest', second, 2, 'second');
  const a = variance(first) / first.length;
  const b = variance(second) / second.length;
  const difference = mean(first) - mean(second);
  const t = difference === 0 ? 0 : difference / Math.sqrt(a + b);
  const degreesOfFreedom = (a + b) ** 2 / (a ** 2 / (first.length - 1) + b ** 2 / (second.length - 1));
  return { t, degreesOfFreedom, pValue: twoSidedStudent(t, degreesOfFreedom) };
}

/** P(|T| >= |t|) = I_x(df / 2, 1 / 2) with x = df / (df + t^2) (Abramowitz and Stegun 26.7.1). */
function twoSidedStudent(t: number, degreesOfFreedom: number): number {
  if (t === 0) return 1;
  if (!Number.isFinite(t)) return 0;
  return incompleteBeta(degreesOfFreedom / (degreesOfFreedom + t * t), degreesOfFreedom / 2, 0.5);
}
