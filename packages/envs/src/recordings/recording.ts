import {
  type ActionArray,
  type AgentId,
  type AnyGame,
  fail,
  type GeneratorState,
  type ObservationSpec,
  type Scene,
  type StepArrays,
  show,
} from '@coplay/core';
import { actionLayout, type SavedSpace, saveSpace, widthOf } from '@coplay/core/arrays';
import { checkNumber, checkNumbers, checkRecord } from '@coplay/core/checks';

/** A discrete action; in a space of several values the list of them. */
export type RecordedAction = number | readonly number[];

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
  /** [K] probabilities of the actions, 0 where illegal; of several choices those of each, one after the other */
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
  readonly actions: readonly (RecordedAction | null)[];
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
  /** 1 for games of discrete actions, 2 for games with other spaces */
  readonly version: 1 | 2;
  /** Name and options of the game. */
  readonly game: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** A ids, and what plays under each: `NearestStag`. */
  readonly agents: readonly AgentId[];
  readonly players: readonly string[];
  readonly actionNames: readonly string[];
  /** [A] of version 2: the space of each agent. Then `actionNames` are those of an action's values */
  readonly spaces?: readonly SavedSpace[];
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

/** The spaces of a game for a recording; none where its actions are one number. */
export function spacesOf(game: AnyGame): Pick<Recording, 'version' | 'spaces'> {
  if (typeof game.actions === 'number') return { version: 1 };
  return { version: 2, spaces: actionLayout(game).spaces.map(saveSpace) };
}

/**
 * A recorded action in words: `hunt stag`, `torque -1.25`, `3` of an agent whose discrete actions have no names.
 *
 * @param recording  with the names of the actions
 * @throws CoplayError for an action that no agent of the recording has
 */
export function actionText(recording: Pick<Recording, 'actionNames' | 'spaces'>, action: RecordedAction): string {
  // Without schemas: a page's script has this function, and stays small.
  checkRecord('actionText', 'recording', recording);
  const { actionNames, spaces } = recording;
  if (!Array.isArray(actionNames)) {
    const remedy = 'Give what recordEpisode() made.';
    fail('actionText: recording.actionNames', 'a list of names', show(actionNames), remedy);
  }
  const largest = spaces ? Number.MAX_SAFE_INTEGER : actionNames.length - 1;
  if (!spaces || !Array.isArray(action)) {
    checkNumber('actionText', 'action', action as number, { min: 0, max: largest, whole: true });
    return spaces ? String(action) : actionNames[action as number];
  }
  checkNumbers('actionText', 'action', action);
  return action.map((value, i) => `${actionNames[i]} ${Number(value.toFixed(3))}`).join(', ');
}

/**
 * What row `row` of a step's results says.
 *
 * @param wasActive  [A] who played before the step
 * @param actions    [A]; in other spaces [A, W]
 */
export function stepOf(
  game: AnyGame,
  wasActive: readonly boolean[],
  actions: ActionArray,
  result: StepArrays,
  row: number,
): RecordedStep {
  const perAgent = <T>(entry: (at: number) => T) =>
    game.agents.map((_, agent) => entry(row * game.agents.length + agent));
  const { spaces, width } = actionLayout(game);
  const actionOf = (agent: number): RecordedAction => {
    const at = agent * width;
    return typeof spaces[agent] === 'number'
      ? actions[at]
      : Array.from(actions.subarray(at, at + widthOf(spaces[agent])));
  };
  return {
    actions: wasActive.map((plays, agent) => (plays ? actionOf(agent) : null)),
    rewards: perAgent((at) => result.rewards[at]),
    terminated: perAgent((at) => result.terminated[at] === 1),
    truncated: perAgent((at) => result.truncated[at] === 1),
  };
}
