import type { AgentId, Game, GeneratorState, Scene, StepArrays } from '@coplay/core';

/** A moment of a recorded episode. */
export interface RecordedFrame {
  /** [stateSize] */
  readonly state: readonly number[];
  /** As `game.writeLayout` draws it, where the game has layouts. */
  readonly layout?: string;
  /** For renderers, where the game has scenes. */
  readonly scene?: Scene;
}

/** What was done between two moments and what came of it; A agents in the order of `agents`. */
export interface RecordedStep {
  /** [A] null for who had left */
  readonly actions: readonly (number | null)[];
  /** [A] */
  readonly rewards: readonly number[];
  /** [A] cumulative */
  readonly terminated: readonly boolean[];
  /** [A] */
  readonly truncated: readonly boolean[];
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
