import { checkNumber } from '@coplay/core/checks';
import { incompleteBeta } from './beta';
import type { Estimate } from './bootstrap';
import { checkValues } from './summary';

/**
 * The share of values, such as the returns of seeds, that are at least `goal`, with its exact interval (Clopper and
 * Pearson 1934). Unlike a bootstrap, the interval has a width also where all seeds reach the goal, or none.
 *
 * @param values      [n], n >= 1: one value per seed
 * @param goal        a finite number
 * @param confidence  coverage of the interval, at least, in (0, 1). Default 0.95
 * @returns shares in [0, 1]
 * @throws CoplayError for no values, or numbers outside of their range
 */
export function shareAtLeast(values: ArrayLike<number>, goal: number, confidence = 0.95): Estimate {
  checkValues('shareAtLeast', values, 1);
  checkNumber('shareAtLeast', 'goal', goal);
  checkNumber('shareAtLeast', 'confidence', confidence, { min: Number.EPSILON, max: 1 - Number.EPSILON });
  const count = values.length;
  const reached = Array.from(values).filter((value) => value >= goal).length;
  const outside = (1 - confidence) / 2;
  return {
    value: reached / count,
    lower: reached === 0 ? 0 : betaQuantile(outside, reached, count - reached + 1),
    upper: reached === count ? 1 : betaQuantile(1 - outside, reached + 1, count - reached),
    count,
  };
}

/** The x in [0, 1] where the regularised incomplete beta function I_x(a, b) is `probability`, by bisection. */
function betaQuantile(probability: number, a: number, b: number): number {
  let [below, above] = [0, 1];
  for (let i = 0; i < 60; i++) {
    const middle = (below + above) / 2;
    if (incompleteBeta(middle, a, b) < probability) below = middle;
    else above = middle;
  }
  return (below + above) / 2;
}
