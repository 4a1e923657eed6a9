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

/** The regularised incomplete beta function I_x(a, b), x in [0, 1]. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x === 0 || x === 1) return x;
  // The fraction converges fast below the mean of the distribution only; the rest is the mirror image.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const logFactor = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  return (Math.exp(logFactor) * betaFraction(x, a, b)) / a;
}

/** The continued fraction of the incomplete beta function by Lentz's method (Numerical Recipes, 6.4). */
function betaFraction(x: number, a: number, b: number): number {
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m < 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    value *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return value;
}

/** ln Gamma(x), x > 0: Stirling's series after shifting x past 10. */
function logGamma(x: number): number {
  let shift = 0;
  let y = x;
  for (; y < 10; y++) shift += Math.log(y);
  const series = 1 / (12 * y) - 1 / (360 * y ** 3) + 1 / (1260 * y ** 5) - 1 / (1680 * y ** 7);
  return (y - 0.5) * Math.log(y) - y + 0.5 * Math.log(2 * Math.PI) + series - shift;
}
