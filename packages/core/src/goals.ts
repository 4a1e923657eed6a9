import type { ArrayOf, DType } from './arrays';

/** What the agents of a game may be after, as it shows in hindsight. */
export interface GoalSet<State extends DType = DType> {
  /** G names, for tables and plots: `['stag', 'hare']`. */
  readonly names: readonly string[];
  /**
   * Which goal an agent reached in a step.
   *
   * @param action  what it did, in 0..K-1
   * @param left    whether the rules ended it in that step
   * @returns 0..G-1, or -1 for none
   */
  reached(action: number, left: boolean): number;
  /** Whether goal `goal` can still be reached: a goal whose prey is gone can't. */
  isOpen(goal: number, state: ArrayOf<State>, offset: number): boolean;
}
