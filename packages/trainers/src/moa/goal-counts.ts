import type { SavedState } from '@coplay/core';

/**
 * How often each goal was shown, with old episodes counting less (the inter-episode part of HOP's opponent modelling, Huang et
 * al. 2024): S <- d S + 1 for the goal shown, S <- d S for the others; all begin at 1; an episode without a goal leaves them.
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

/** Counts of G goals with a discount per episode. */
export function goalCounts(goals: number, discount: number): GoalCounts {
  const counts = new Float64Array(goals).fill(1);
  return {
    counts,
    add(goal) {
      if (goal < 0) return;
      for (let i = 0; i < goals; i++) counts[i] *= discount;
      counts[goal] += 1;
    },
    prior() {
      const sum = counts.reduce((total, count) => total + count, 0);
      return counts.map((count) => count / sum);
    },
    state: () => ({ counts: counts.slice() }),
    restore: (saved) => counts.set(saved['counts'] as Float64Array),
  };
}
