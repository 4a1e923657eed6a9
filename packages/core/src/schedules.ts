import { z } from 'zod';
import type { SavedState } from './agent';
import { checkNumber } from './check-values';
import { checkArgument } from './checks';
import { fail, show } from './errors';

/**
 * A hyperparameter that changes during training: progress in [0, 1] in, value out. Progress beyond the ends counts as
 * the end, so that training past its budget keeps the last value.
 */
export type Schedule = (progress: number) => number;

const pointsSchema = z.array(z.tuple([z.number(), z.number()], 'a pair [progress, value]'));

/** The same value all the time. */
export function constant(value: number): Schedule {
  checkNumber('constant', 'value', value);
  return () => value;
}

/** A straight line from `from` at progress 0 to exactly `to` at progress 1. */
export function linear(from: number, to: number): Schedule {
  checkNumber('linear', 'from', from);
  checkNumber('linear', 'to', to);
  return linesBetween('linear', [
    [0, from],
    [1, to],
  ]);
}

/**
 * Half a cosine from `from` to exactly `to`: flat at both ends (Loshchilov and Hutter 2017, eq. 5, without restarts).
 */
export function cosine(from: number, to: number): Schedule {
  checkNumber('cosine', 'from', from);
  checkNumber('cosine', 'to', to);
  return (progress) => {
    const p = clamp('cosine', progress);
    return p === 1 ? to : between(from, to, 0.5 - 0.5 * Math.cos(Math.PI * p));
  };
}

/**
 * Straight lines between points, level before the first and after the last.
 *
 * @param points  [progress, value], ordered by progress; two at one progress make a jump, to the later value
 */
export function piecewise(points: readonly (readonly [progress: number, value: number])[]): Schedule {
  checkArgument('piecewise', 'points', pointsSchema, points);
  if (points.length === 0) fail('piecewise', 'at least one point', 'none', 'Give points such as [[0, 1], [1, 0]].');
  points.forEach(([at], i) => {
    if (i > 0 && at < points[i - 1][0])
      fail('piecewise', 'points ordered by progress', `${at} at index ${i}`, 'Sort the points.');
  });
  return linesBetween(
    'piecewise',
    points.map(([at, value]) => [at, value]),
  );
}

/** @param where  the schedule that is asked, for the message */
function linesBetween(where: string, points: readonly (readonly [progress: number, value: number])[]): Schedule {
  return (progress) => {
    const p = clamp(where, progress);
    const next = points.findIndex(([at]) => at > p);
    if (next === 0) return points[0][1];
    if (next < 0) return points[points.length - 1][1];
    const [start, from] = points[next - 1];
    const [end, to] = points[next];
    return between(from, to, (p - start) / (end - start));
  };
}

/** A schedule that a loop queries in every round with the number of steps so far; it remembers its answers. */
export interface Clock<Answer> {
  /** @param steps  done so far, such as environment steps; never less than in the call before */
  (steps: number): Answer;
  state(): SavedState;
  restore(saved: SavedState): void;
}

/**
 * Whether it's time again: true in the first call at or after each multiple of `n` (counted from 0, which is none).
 * A call that passes several multiples answers true once. `n` Infinity means never.
 */
export function every(n: number): Clock<boolean> {
  checkNumber('every', 'n', n, { above: 0, infinite: true });
  let last = 0;
  return clock(
    (steps) => {
      checkSteps('every', steps);
      const due = Math.floor(steps / n) > Math.floor(last / n);
      last = steps;
      return due;
    },
    () => ({ last }),
    (saved) => {
      const before: unknown = saved?.['last'];
      checkNumber('every.restore', 'saved.last', before, { min: 0 });
      last = before as number;
    },
  );
}

/** Whether to go on: true while fewer than `n` steps are done. `while (running(steps)) ...` */
export function until(n: number): (steps: number) => boolean {
  checkNumber('until', 'n', n, { min: 0, infinite: true });
  return (steps) => {
    checkSteps('until', steps);
    return steps < n;
  };
}

/**
 * How many updates are due, at `updates` per step: 1 in the first call, then as many as keep the ratio, the remainder
 * being kept for later (the schedule of DreamerV3). A state of another ratio may be restored: the new one counts from
 * there on.
 *
 * @param updates  per step; above 0. 0.25 is one update in 4 steps
 */
export function ratio(updates: number): Clock<number> {
  checkNumber('ratio', 'updates', updates, { above: 0 });
  let start = -1;
  let done = 0;
  let last = 0;
  return clock(
    (steps) => {
      checkSteps('ratio', steps);
      last = steps;
      if (start < 0) {
        start = steps;
        return 1;
      }
      // The tiny number undoes rounding: 49 steps at 1 / 49 are one update.
      const due = Math.floor((steps - start) * updates + 1e-9) - done;
      done += due;
      return due;
    },
    () => ({ start, done, last, updates }),
    (saved) => {
      const before: SavedState | undefined = saved;
      checkNumber('ratio.restore', 'saved.start', before?.['start'], { min: -1 });
      checkNumber('ratio.restore', 'saved.done', before?.['done'], { min: 0, whole: true });
      const { updates: asked = updates, last: seen = 0 } = saved;
      checkNumber('ratio.restore', 'saved.updates', asked, { above: 0 });
      checkNumber('ratio.restore', 'saved.last', seen, { min: 0 });
      // A new ratio counts from the last step on: it doesn't change what was due before.
      const isOther = asked !== updates && (saved['start'] as number) >= 0;
      start = isOther ? (seen as number) : (saved['start'] as number);
      done = isOther ? 0 : (saved['done'] as number);
      last = seen as number;
    },
  );
}

function clock<Answer>(
  ask: (steps: number) => Answer,
  state: () => SavedState,
  restore: (saved: SavedState) => void,
): Clock<Answer> {
  return Object.assign(ask, { state, restore });
}

function clamp(where: string, progress: number): number {
  if (typeof progress !== 'number' || Number.isNaN(progress))
    fail(where, 'progress between 0 and 1', show(progress), 'Divide steps done by steps asked for.');
  return Math.min(1, Math.max(0, progress));
}

/** Never outside the two ends, for any rounding. */
function between(from: number, to: number, share: number): number {
  const value = from + (to - from) * share;
  return Math.min(Math.max(from, to), Math.max(Math.min(from, to), value));
}

function checkSteps(where: string, steps: number): void {
  checkNumber(where, 'steps', steps, { min: 0 });
}
