import type { SavedState } from '@coplay/core';
import { checkArgument, checkCount, checkNumber, checkNumbers, typedArrays } from '@coplay/core/checks';
import { discountCounts, priorOfCounts } from './inter';
import { amongOpen, type GoalMemory } from './memory';

/**
 * How often each goal was shown, with old episodes counting less (the inter-episode part of HOP's opponent modelling,
 * Huang et al. 2024): S <- d S + 1 for the goal shown, S <- d S for the others; all begin at 1; an episode without a
 * goal leaves them.
 */
export interface GoalCounts {
  /** [G] */
  readonly counts: Float64Array;
  /** Counts an episode that showed goal `goal`, in -1..G-1. */
  add(goal: number): void;
  /** [G] counts / sum of counts; [] where there are no goals */
  prior(): Float64Array;
  state(): SavedState;
  restore(saved: SavedState): void;
}

/** Counts of G goals with a discount per episode, in (0, 1]. */
export function goalCounts(goals: number, discount: number): GoalCounts {
  return countsFor('goalCounts', goals, discount);
}

/** @param where  the function whose arguments these are, for messages */
function countsFor(where: string, goals: number, discount: number): GoalCounts {
  checkCount(where, 'goals', goals);
  checkNumber(where, 'discount', discount, { above: 0, max: 1 });
  const counts = new Float64Array(goals).fill(1);
  return {
    counts,
    add: (goal) => {
      checkNumber('goalCounts.add', 'goal', goal, { min: -1, max: goals - 1, whole: true });
      if (goal >= 0) discountCounts(counts, Int32Array.of(goal), discount);
    },
    prior: () => priorOfCounts(counts, goals),
    state: () => ({ counts: counts.slice() }),
    restore: (saved) => {
      const before: unknown = saved?.['counts'];
      checkArgument('goalCounts.restore', 'saved.counts', typedArrays('float64'), before);
      checkNumbers('goalCounts.restore', 'saved.counts', before, { length: goals, min: 0 });
      counts.set(before as Float64Array);
    },
  };
}

/** Goal counts as a memory of a co-player that shows one goal in an episode: the one that it reached last. */
export function goalMemory(goals: number, discount = 0.995): GoalMemory {
  const counts = countsFor('goalMemory', goals, discount);
  return {
    prior: (_reached, open, from) => amongOpen(counts.prior(), open, from),
    add: (last) => counts.add(last),
    state: () => counts.state(),
    restore: (saved) => counts.restore(saved),
  };
}
