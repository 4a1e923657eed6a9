import { fail, show } from '@coplay/core';
import { checkArgument, checkNumber } from '@coplay/core/checks';
import { z } from 'zod';
import { curve } from '../inputs';
import { bootstrap } from './bootstrap';
import { mean } from './summary';

/** A figure over time, from one run. */
export interface Curve {
  /** [n] environment steps, ascending */
  readonly steps: readonly number[];
  /** [n] NaN where there is none */
  readonly values: readonly number[];
}

/** A curve over seeds: the mean and its bootstrap interval at each step. */
export interface Band {
  /** [P] environment steps */
  readonly steps: readonly number[];
  /** [P] */
  readonly mean: readonly number[];
  /** [P] NaN where there is one run only */
  readonly lower: readonly number[];
  /** [P] */
  readonly upper: readonly number[];
}

/** Resamples for each of a band's points: enough for the eye. */
const RESAMPLES = 1000;

/**
 * Joins the curves of several runs (seeds) into their mean with 95 % bootstrap intervals, at `points` steps that are
 * spread evenly over the range that all of the curves cover. Between its points a curve is linear.
 *
 * @param curves  one or more; points whose value is NaN are left out
 * @param points  P >= 2. Default 200
 * @throws CoplayError for no curves, curves without any value, or steps that are not ascending
 */
export function bandOverRuns(curves: readonly Curve[], points = 200): Band {
  checkArgument('bandOverRuns', 'curves', z.array(curve), curves);
  checkNumber('bandOverRuns', 'points', points, { min: 2, max: 1e6, whole: true });
  const clean = curves.map(withoutGaps);
  if (clean.length === 0) fail('bandOverRuns', 'one curve or more', 'none', 'Give a curve for each seed.');
  const steps = commonSteps(clean, points);
  const rows = clean.map((curve) => interpolate(curve, steps));
  const estimates = steps.map((_, i) => estimate(rows.map((row) => row[i])));
  return {
    steps,
    mean: estimates.map(({ value }) => value),
    lower: estimates.map(({ lower }) => lower),
    upper: estimates.map(({ upper }) => upper),
  };
}

function estimate(values: readonly number[]) {
  return bootstrap(values, { resamples: RESAMPLES });
}

function withoutGaps({ steps, values }: Curve, index: number): Curve {
  const rows = steps.map((step, i) => [step, values[i]] as const).filter(([, value]) => !Number.isNaN(value));
  const isAscending = rows.every(([step], i) => i === 0 || step >= rows[i - 1][0]);
  if (steps.length !== values.length || rows.length === 0 || !isAscending) {
    const expected = `curve ${index} to have as many values as ascending steps, one of them not NaN`;
    fail(
      'bandOverRuns',
      expected,
      `steps ${show(steps)}, values ${show(values)}`,
      'Leave out runs that logged nothing.',
    );
  }
  return { steps: rows.map(([step]) => step), values: rows.map(([, value]) => value) };
}

function commonSteps(curves: readonly Curve[], points: number): number[] {
  const first = Math.max(...curves.map(({ steps }) => steps[0]));
  const last = Math.min(...curves.map(({ steps }) => steps.at(-1)!));
  if (first >= last) return [last];
  return Array.from({ length: points }, (_, i) => first + ((last - first) * i) / (points - 1));
}

/** Values of a curve at ascending `at`, which lie within its range (or at its ends). */
function interpolate({ steps, values }: Curve, at: readonly number[]): number[] {
  let next = 0;
  return at.map((step) => {
    while (next < steps.length - 1 && steps[next] < step) next++;
    const before = Math.max(next - 1, 0);
    const span = steps[next] - steps[before];
    const share = span > 0 ? Math.min((step - steps[before]) / span, 1) : 1;
    return values[before] + share * (values[next] - values[before]);
  });
}

/**
 * Means over `window` consecutive points, so that a noisy curve can be read; at the start over as many as there are.
 *
 * @param window  a whole number of points, at least 1
 */
export function smooth(noisy: Curve, window: number): Curve {
  checkArgument('smooth', 'curve', curve, noisy);
  checkNumber('smooth', 'window', window, { min: 1, whole: true });
  const { steps, values } = noisy;
  const means = values.map((_, i) => {
    const recent = values.slice(Math.max(0, i - window + 1), i + 1).filter((value) => !Number.isNaN(value));
    return recent.length > 0 ? mean(recent) : Number.NaN;
  });
  return { steps, values: means };
}
