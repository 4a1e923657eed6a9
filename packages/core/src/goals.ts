import type { ObservationArrays } from './observations';
import type { ArrayOf, DType } from './typed-arrays';

/** The goals that the agents of a game may pursue, recognised in hindsight. */
export interface GoalSet<State extends DType = DType> {
  /** G names, for tables and plots: `['stag', 'hare']`. */
  readonly names: readonly string[];
  /**
   * The goal, in 0..G-1, that an agent shows by reaching no other goal until the episode ends, such as "won't shovel
   * again". It counts among the G goals. Default: none; the goal of such an agent stays unknown.
   */
  readonly noGoal?: number;
  /** Fields of the observation that `reached` reads. Default: none, the agent's actions are enough. */
  readonly reads?: readonly string[];
  /**
   * Which goal an agent reached in a step.
   *
   * @param action        its action, in 0..K-1
   * @param left          whether the rules ended it in that step
   * @param observations  the observation before the step: arrays of the fields that `reads` names
   * @param row           their row that holds what this agent saw
   * @returns 0..G-1, or -1 for none
   */
  reached(action: number, left: boolean, observations: ObservationArrays, row: number): number;
  /** Whether goal `goal` can still be reached: a goal whose prey is gone can't. */
  isOpen(goal: number, state: ArrayOf<State>, offset: number): boolean;
}
