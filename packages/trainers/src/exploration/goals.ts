import type { ObservationArrays } from '@coplay/core';

/** What an explorer sees in one game. The arrays are views: read them, and keep none. */
export interface ExplorerView {
  /** Its index in `game.agents`. */
  readonly seat: number;
  readonly observations: ObservationArrays;
  /** The row of these arrays that it sees. */
  readonly row: number;
  /** [K] 1 where an action is legal */
  readonly mask: Uint8Array;
}

/** Goals that explorers can share, and how an agent reaches one. `gridGoals(game)` are the cells of a grid. */
export interface ExplorationGoals {
  /** G; goals are 0..G-1 */
  readonly count: number;
  /** Whether an agent that sees this can try to reach the goal. Default: always */
  isOpen?(goal: number, view: ExplorerView): boolean;
  /** Whether the agent is at the goal. */
  isReached(goal: number, view: ExplorerView): boolean;
  /**
   * The actions that lead on: towards the goal, or at the goal those to try there. The explorer draws one of the legal
   * ones among them, all equally likely. If there is none, the agent acts by its own policy.
   */
  actions(goal: number, view: ExplorerView): readonly number[];
}
