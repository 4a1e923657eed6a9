import { fail, show } from './errors';
import type { ObservationArrays } from './observations';
import type { ArrayOf, DType } from './typed-arrays';

/** A step of one agent, in which it may have reached a goal. The arrays are views: read them, and keep none. */
export interface GoalStep<State extends DType = DType> {
  /** The agent's index in `game.agents`. */
  readonly agent: number;
  /** Its action, in 0..K-1. */
  readonly action: number;
  /** Whether the rules ended it in this step. */
  readonly left: boolean;
  /** The observation before the step: arrays of the fields that `reads` names. */
  readonly observations: ObservationArrays;
  /** The row of these arrays that holds what this agent saw. */
  readonly row: number;
  /** [S] the state before the step; empty unless the goals have `readsStates` */
  readonly before: ArrayOf<State>;
  /** [S] the state after it, also where the episode ended; empty unless the goals have `readsStates` */
  readonly after: ArrayOf<State>;
}

/** The goals that the agents of a game may pursue, recognised in hindsight. Any game can have them. */
export interface GoalSet<State extends DType = DType> {
  /** G names, for tables and plots: `['stag', 'hare']`. */
  readonly names: readonly string[];
  /**
   * The goal, in 0..G-1, that an agent shows by reaching no other goal until the episode ends, such as "won't shovel
   * again". It counts among the G goals. Default: none; the goal of such an agent stays unknown.
   */
  readonly noGoal?: number;
  /** Fields of the observation that `reached` reads. Default: none. */
  readonly reads?: readonly string[];
  /**
   * Whether `reached` reads the states before and after the step. Then labels need experience with states, as rollouts
   * record it, and beliefs need a game with `observesState`. Default: false, action and observation are enough
   */
  readonly readsStates?: boolean;
  /**
   * Which goal an agent reached in a step: a function of the step, which changes nothing.
   *
   * @returns 0..G-1, or -1 for none
   */
  reached(step: GoalStep<State>): number;
  /** Whether goal `goal` can still be reached: a goal whose prey is gone can't. Default: every goal always can. */
  isOpen?(goal: number, state: ArrayOf<State>, offset: number): boolean;
}

/**
 * The goal that an agent reached in a step.
 *
 * @param where  name of the function `reached`, for messages: `goals.reached of stag-hunt`
 * @returns 0..G-1, or -1 for none
 * @throws CoplayError if `reached` returns anything else
 */
export function reachedGoal(where: string, goals: GoalSet, step: GoalStep): number {
  const reached: unknown = goals.reached(step);
  if (isGoal(goals, reached)) return reached;
  return fail(where, expectedGoal(goals), show(reached), RETURN_INDEX);
}

/** Whether a value is one that `reached` may return. */
export function isGoal({ names }: GoalSet, value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= -1 && (value as number) < names.length;
}

/** The values that `reached` may return, for messages. */
export const expectedGoal = ({ names }: GoalSet) => `a goal from 0 to ${names.length - 1}, or -1 for none`;

/** The remedy for other values. */
export const RETURN_INDEX = 'Return the index of the goal in goals.names.';
