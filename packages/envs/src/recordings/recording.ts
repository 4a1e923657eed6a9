import type { AgentId, Game, GeneratorState, ObservationSpec, Scene, StepArrays } from '@coplay/core';

/** One agent's observation: the numbers of each field of the game's observation, row-major. */
export type RecordedObservation = Readonly<Record<string, readonly number[]>>;

/** A moment of a recorded episode. */
export interface RecordedFrame {
  /** [stateSize] */
  readonly state: readonly number[];
  /** As `game.writeLayout` draws it, where the game has layouts. */
  readonly layout?: string;
  /** For renderers, where the game has scenes. */
  readonly scene?: Scene;
  /** [A] where they were asked for; null for who had left */
  readonly observations?: readonly (RecordedObservation | null)[];
}

/** An agent's insight into its choice; parts that it didn't give are absent. K actions, G goals. */
export interface RecordedInsight {
  /** [K] probabilities of the actions, 0 where illegal */
  readonly policy?: readonly number[];
  /** Its estimate of the discounted return from here on, in the unit of rewards. */
  readonly value?: number;
  /**
   * [G] by co-player, in the order of the recording's `goals`: its belief about the other's goal. Sums of 1; all 0
   * where no goal is open
   */
  readonly beliefs?: Readonly<Record<AgentId, readonly number[]>>;
  /** [K] how often its search tried each action, summed over trees */
  readonly visits?: readonly number[];
}

/** A world model's prediction of the next frame, from the state and the actions of all agents. */
export interface RecordedPrediction extends RecordedFrame {
  /** [A] */
  readonly rewards: readonly number[];
  /** [A] cumulative */
  readonly terminated: readonly boolean[];
}

/** The actions between two moments and their outcome; A agents in the order of `agents`. */
export interface RecordedStep {
  /** [A] null for who had left */
  readonly actions: readonly (number | null)[];
  /** [A] */
  readonly rewards: readonly number[];
  /** [A] cumulative */
  readonly terminated: readonly boolean[];
  /** [A] */
  readonly truncated: readonly boolean[];
  /** [A] where any agent told something; null for who had left or told nothing */
  readonly insights?: readonly (RecordedInsight | null)[];
  /** Where a simulator was given. */
  readonly predicted?: RecordedPrediction;
}

/** An episode as plain JSON: for replays, pictures and files. T steps. */
export interface Recording {
  readonly format: 'coplay-episode';
  readonly version: 1;
  /** Name and options of the game. */
  readonly game: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** A ids, and what plays under each: `NearestStag`. */
  readonly agents: readonly AgentId[];
  readonly players: readonly string[];
  readonly actionNames: readonly string[];
  /** G names, where beliefs were told. */
  readonly goals?: readonly string[];
  /** The specification of the fields in `observations`, if the option asked for them. */
  readonly observation?: ObservationSpec;
  /** The game's generator at frame 0: with it and the actions the rest follows. */
  readonly generator: GeneratorState;
  /** T + 1 */
  readonly frames: readonly RecordedFrame[];
  /** T; step t leads from frame t to frame t + 1 */
  readonly steps: readonly RecordedStep[];
}

/**
 * What row `row` of a step's results says.
 *
 * @param wasActive  [A] who played before the step
 * @param actions    [A]
 */
export function stepOf(
  game: Game,
  wasActive: readonly boolean[],
  actions: Int32Array,
  result: StepArrays,
  row: number,
): RecordedStep {
  const perAgent = <T>(entry: (at: number) => T) =>
    game.agents.map((_, agent) => entry(row * game.agents.length + agent));
  return {
    actions: wasActive.map((plays, agent) => (plays ? actions[agent] : null)),
    rewards: perAgent((at) => result.rewards[at]),
    terminated: perAgent((at) => result.terminated[at] === 1),
    truncated: perAgent((at) => result.truncated[at] === 1),
  };
}
