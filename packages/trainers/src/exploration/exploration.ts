import type { Agent, Game, Generator, Metrics, SavedState } from '@coplay/core';

/**
 * A way to explore, for the option `exploration` of `selfPlay`: it chooses some actions of agents that learn while the
 * run collects experience. Evaluations play the agents as they are.
 */
export interface Exploration {
  /** Its description for a run directory, as JSON. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The explorers of one run. */
  start(run: ExplorersOf): Explorers;
}

/** The run that explorers are made for. */
export interface ExplorersOf {
  readonly game: Game;
  /** In the order of the seats. */
  readonly agents: readonly Agent[];
  /** E */
  readonly envs: number;
  /** For all draws of the exploration. */
  readonly generator: Generator;
}

/** Agents that explore in one run. */
export interface Explorers {
  /**
   * In the order of the seats. They act as the agents do, except where the exploration chooses the action. There the
   * extra `explored` is 1 and the extra `logProbs` is the log-probability with which the exploration drew the action.
   */
  readonly agents: readonly Agent[];
  /** Called before each rollout with the share of the training that is done, in [0, 1]. */
  setProgress(progress: number): void;
  /** Called after each rollout. */
  metrics(): Metrics;
  /** All that it needs to go on to the bit. */
  state(): SavedState;
  restore(saved: SavedState): void;
}
