import {
  checkArgument,
  checkNumber,
  checkNumbers,
  checkOptions,
  fail,
  type SavedState,
  show,
  typedArrays,
} from '@coplay/core';
import { z } from 'zod';
import { blendPrior } from './inter';
import { amongOpen, type GoalMemory } from './memory';

/**
 * How many goals a co-player reaches in an episode, as a distribution that moves with each episode (inter-OM in the
 * snowdrift game, Huang et al. 2024): p <- d p + (1 - d) onehot(count).
 */
export interface DriftCounts {
  /** [max + 1] P(count = c), c = 0..max */
  readonly probabilities: Float64Array;
  /** P(count > done): that it shovels again after having shovelled `done` in this episode. */
  again(done: number): number;
  /** Takes in an episode in which it shovelled `count`; more than max counts as max. */
  add(count: number): void;
  state(): SavedState;
  restore(saved: SavedState): void;
}

/** Counts above it have a probability of 0 in double precision. */
const MOST = 10_000;

/**
 * A distribution over counts 0..max that begins as Poisson(1) truncated there: p(c) proportional to 1 / c!.
 *
 * @param max       at least 1: the drifts of an episode
 * @param discount  d, in 0..1. Default 0.98
 */
export function driftCounts(max: number, discount = 0.98): DriftCounts {
  checkNumber('driftCounts', 'max', max, { min: 1, max: MOST, whole: true });
  checkNumber('driftCounts', 'discount', discount, { min: 0, max: 1 });
  const probabilities = new Float64Array(max + 1);
  for (let c = 0; c <= max; c++) probabilities[c] = c === 0 ? 1 : probabilities[c - 1] / c;
  const sum = probabilities.reduce((total, p) => total + p, 0);
  for (let c = 0; c <= max; c++) probabilities[c] /= sum;
  return {
    probabilities,
    again(done) {
      let chance = 0;
      for (let c = max; c > done; c--) chance += probabilities[c];
      return chance;
    },
    add: (count) => {
      checkNumber('driftCounts.add', 'count', count, { min: 0, whole: true });
      blendPrior(probabilities, Int32Array.of(Math.min(count, max)), discount);
    },
    state: () => ({ probabilities: probabilities.slice() }),
    restore: (saved) => {
      const before: unknown = saved?.['probabilities'];
      checkArgument('driftCounts.restore', 'saved.probabilities', typedArrays('float64'), before);
      checkNumbers('driftCounts.restore', 'saved.probabilities', before, { length: max + 1, min: 0, max: 1 });
      probabilities.set(before as Float64Array);
    },
  };
}

/** Options of {@link driftMemory}. */
export interface DriftMemoryOptions {
  /** G, goals in all */
  readonly goals: number;
  /** Which of them is "won't shovel again". Default: the last */
  readonly otherwise?: number;
  /** Drifts of an episode at most, where the first distribution is cut off. Default G - 1 */
  readonly most?: number;
  /** d, in 0..1. Default 0.98 */
  readonly discount?: number;
}

const memorySchema = z.strictObject({
  goals: z.int().min(2).max(MOST),
  otherwise: z.int().min(0).optional(),
  most: z.int().min(1).max(MOST).optional(),
  discount: z.number().min(0).max(1).optional(),
});

/**
 * Drift counts as a memory of a co-player: "won't shovel again" has P(count <= shovelled so far), and the remaining
 * drifts share the rest equally.
 */
export function driftMemory(options: DriftMemoryOptions): GoalMemory {
  const checked = checkOptions('driftMemory', memorySchema, options);
  const { goals, otherwise = goals - 1, most = goals - 1, discount } = checked;
  if (otherwise >= goals) {
    fail('driftMemory: option otherwise', `a goal from 0 to ${goals - 1}`, show(otherwise), 'Name one of the goals.');
  }
  const counts = driftCounts(most, discount);
  return {
    prior(reached, open, from) {
      let left = 0;
      for (let goal = 0; goal < goals; goal++) if (goal !== otherwise) left += open[from + goal];
      const again = counts.again(reached);
      const weights = new Float64Array(goals).fill(left === 0 ? 0 : again / left);
      weights[otherwise] = 1 - again;
      return amongOpen(weights, open, from);
    },
    add: (_last, reached) => counts.add(reached),
    state: () => counts.state(),
    restore: (saved) => counts.restore(saved),
  };
}
