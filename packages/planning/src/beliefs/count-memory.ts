import { checkOptions, fail, type SavedState, show } from '@coplay/core';
import { checkArgument, checkNumber, checkNumbers, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import { blendPrior } from './inter';
import { amongOpen, type GoalMemory } from './memory';

/**
 * How many goals a co-player reaches in an episode, as a distribution that moves with each episode (inter-OM in the
 * snowdrift game, Huang et al. 2024): p <- d p + (1 - d) onehot(count).
 */
export interface GoalsPerEpisode {
  /** [max + 1] P(count = c), c = 0..max */
  readonly probabilities: Float64Array;
  /** P(count > done): the co-player reaches another goal, after `done` goals in this episode. */
  again(done: number): number;
  /** Takes in an episode in which the co-player reached `count` goals; more than max counts as max. */
  add(count: number): void;
  state(): SavedState;
  restore(saved: SavedState): void;
}

/** Counts above it have a probability of 0 in double precision. */
const MOST = 10_000;

/**
 * A distribution over counts 0..max that begins as Poisson(1) truncated there: p(c) proportional to 1 / c!.
 *
 * @param max       at least 1: the largest number of goals in an episode
 * @param discount  d, in 0..1. Default 0.98
 */
export function goalsPerEpisode(max: number, discount = 0.98): GoalsPerEpisode {
  checkNumber('goalsPerEpisode', 'max', max, { min: 1, max: MOST, whole: true });
  checkNumber('goalsPerEpisode', 'discount', discount, { min: 0, max: 1 });
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
      checkNumber('goalsPerEpisode.add', 'count', count, { min: 0, whole: true });
      blendPrior(probabilities, Int32Array.of(Math.min(count, max)), discount);
    },
    state: () => ({ probabilities: probabilities.slice() }),
    restore: (saved) => {
      const before: unknown = saved?.['probabilities'];
      checkArgument('goalsPerEpisode.restore', 'saved.probabilities', typedArrays('float64'), before);
      checkNumbers('goalsPerEpisode.restore', 'saved.probabilities', before, { length: max + 1, min: 0, max: 1 });
      const sum = (before as Float64Array).reduce((total, p) => total + p, 0);
      if (Math.abs(sum - 1) > 1e-6) {
        const where = 'goalsPerEpisode.restore: saved.probabilities';
        fail(where, 'numbers that sum to 1', `a sum of ${sum}`, 'Give what state() returned.');
      }
      probabilities.set(before as Float64Array);
    },
  };
}

/** Options of {@link countMemory}. */
export interface CountMemoryOptions {
  /** G, goals in all */
  readonly goals: number;
  /** The goal that means "reaches no goal any more", such as "won't shovel again". Default: the last */
  readonly noGoal?: number;
  /** Largest number of goals in an episode, where the first distribution is cut off. Default G - 1 */
  readonly max?: number;
  /** d, in 0..1. Default 0.98 */
  readonly discount?: number;
}

const memorySchema = z.strictObject({
  goals: z.int().min(2).max(MOST),
  noGoal: z.int().min(0).optional(),
  max: z.int().min(1).max(MOST).optional(),
  discount: z.number().min(0).max(1).optional(),
});

/**
 * Goals per episode as a memory of a co-player that may reach several goals in an episode: the goal `noGoal` has
 * P(count <= reached so far), and the other open goals share the rest equally.
 */
export function countMemory(options: CountMemoryOptions): GoalMemory {
  const checked = checkOptions('countMemory', memorySchema, options);
  const { goals, noGoal = goals - 1, max = goals - 1, discount } = checked;
  if (noGoal >= goals) {
    fail('countMemory: option noGoal', `a goal from 0 to ${goals - 1}`, show(noGoal), 'Name one of the goals.');
  }
  const counts = goalsPerEpisode(max, discount);
  return {
    prior(reached, open, from) {
      let left = 0;
      for (let goal = 0; goal < goals; goal++) if (goal !== noGoal) left += open[from + goal];
      const again = counts.again(reached);
      const weights = new Float64Array(goals).fill(left === 0 ? 0 : again / left);
      weights[noGoal] = 1 - again;
      return amongOpen(weights, open, from);
    },
    add: (_last, reached) => counts.add(reached),
    state: () => counts.state(),
    restore: (saved) => counts.restore(saved),
  };
}
