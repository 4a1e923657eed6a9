import type { ActionSpaces, ActionsOf } from './action-spaces';
import type { Generator } from './generator';
import type { GoalSet } from './goals';
import type { GridParts } from './grid-parts';
import type { ObservationArrays, ObservationSpec } from './observations';
import type { ArrayOf, DType } from './typed-arrays';

/** The name of an agent, such as `agent_0`. It stays the agent's for the whole run, in every seat that it plays. */
export type AgentId = string;

/**
 * Where `step` writes what happened; row r of an array belongs to environment r. A agents, in the order of
 * `game.agents`.
 */
export interface StepArrays {
  /** [rows, A] reward of this step */
  readonly rewards: Float32Array;
  /** [rows, A] 1 from the step on in which the agent ended by the rules (cumulative) */
  readonly terminated: Uint8Array;
  /** [rows, A] 1 where a time limit cut an agent that was still playing */
  readonly truncated: Uint8Array;
  /** [rows, A] for each name in `game.infos` */
  readonly infos: Record<string, Float32Array>;
}

/** The description from which a renderer draws a state of a grid game. Rows count from the top. */
export interface Scene {
  readonly rows: number;
  readonly columns: number;
  readonly items: readonly SceneItem[];
}

/** One thing on the grid. Several may share a cell. */
export interface SceneItem {
  /** The kind of item: `agent`, `obstacle`, `stag`, `hare`, `drift`, ...; a renderer picks the picture by it. */
  readonly kind: string;
  /** One character for text. */
  readonly symbol: string;
  readonly row: number;
  readonly column: number;
}

/**
 * The rules of a game for A agents that act at once. A user writes a new environment by writing one of these;
 * `vectorEnv`, `parallelEnv`, renderers and wrappers are derived from it, and `gameContract` checks it.
 *
 * A state is `stateSize` consecutive values of one typed array, from `offset` on, so that copying a state is one
 * `copyWithin`. Nothing else may carry state from step to step. The functions allocate nothing, take all their
 * randomness from the generator, and leave values outside their part of the arrays alone.
 *
 * A step has two phases: every action is judged on the state before the step, then everything happens at once.
 * An agent that has ended stays inactive to the end of the episode.
 */
export interface Game<State extends DType = DType, Spaces extends ActionSpaces = number> {
  /** For file names and messages, such as `stag-hunt`. */
  readonly name: string;
  /** A ids. Seat i of every array belongs to `agents[i]`. */
  readonly agents: readonly AgentId[];
  /**
   * K, the number of discrete actions; the same for every agent (those it may not use are masked). Or another space,
   * for all agents or for each id: `box({ shape: [2], low: -1, high: 1 })`, `multiDiscrete([3, 5])`; docs/spaces.md
   * says which parts of the library take which. Then K below is the size of the masks.
   */
  readonly actions: Spaces;
  /** K names, for tables and plots; of other spaces a name for each of the W values of an action. */
  readonly actionNames: readonly string[];
  readonly observation: ObservationSpec;
  readonly stateType: State;
  readonly stateSize: number;
  /** Steps after which an episode is truncated. */
  readonly maxSteps: number;
  /** Names of the extra numbers per agent that `step` writes, such as `illegal`. */
  readonly infos: readonly string[];
  /**
   * Whether each agent's observation, together with the number of steps played, determines the state. Then an agent may
   * plan from the state itself (`input.states` of `act`). Default: false, part of the state may be hidden
   */
  readonly observesState?: boolean;
  /** The options that made the game, as JSON, for run directories and checkpoints. */
  readonly options: Readonly<Record<string, unknown>>;

  /** Starts an episode. */
  reset(state: ArrayOf<State>, offset: number, generator: Generator): void;
  /**
   * Plays one step: `actions[actionsOffset + i]` is the action of agent i, in 0..K-1 (that is checked by the caller);
   * an inactive agent's action is ignored. In other spaces the W values of its action begin at `actionsOffset + i W`,
   * where W is the width of the widest space. Writes row `row` of every array of `result`, all A entries of it.
   */
  step(
    state: ArrayOf<State>,
    offset: number,
    actions: ActionsOf<Spaces>,
    actionsOffset: number,
    generator: Generator,
    result: StepArrays,
    row: number,
  ): void;
  /**
   * Writes K bytes from `maskOffset` on: 1 where the agent may take the action. An inactive agent has exactly one legal
   * action. In other spaces it writes the mask of the agent's own space: a byte for each option of each choice (an
   * inactive agent has one option in each), and nothing for a box.
   */
  legal(state: ArrayOf<State>, offset: number, agent: number, mask: Uint8Array, maskOffset: number): void;
  /** Writes row `row` of every field: what agent `agent` sees. */
  observe(state: ArrayOf<State>, offset: number, agent: number, out: ObservationArrays, row: number): void;
  /** Whether the agent still plays. */
  isActive(state: ArrayOf<State>, offset: number, agent: number): boolean;
  /** Steps done in this episode. */
  elapsed(state: ArrayOf<State>, offset: number): number;

  /** Starts an episode from a map; see the game's page for its characters. Absent where a game has none. */
  readLayout?(layout: unknown, state: ArrayOf<State>, offset: number): void;
  /** The state as such a map; `readLayout` of it gives an equal state where the map can show all of it. */
  writeLayout?(state: ArrayOf<State>, offset: number): string;
  /** The picture of a state; absent where the game isn't played on a grid. */
  scene?(state: ArrayOf<State>, offset: number): Scene;
  /** What agents may be after; absent where the game names no goals. */
  readonly goals?: GoalSet<State>;
  /** The parts of a grid game's state; absent where an agent doesn't see all of them. */
  readonly grid?: GridParts<State>;
  /** Rules that run in another program: batches play by them. `externalGame` makes such a game. */
  readonly external?: ExternalRules<Spaces>;
}

/**
 * The arrays of a batch of E environments with A agents, which external rules write. After a step they are as
 * `VectorEnv` describes them: where an episode has ended, `observations`, `masks` and `active` are those of the next
 * episode, and the `final` arrays hold the end of the old one.
 */
export interface ExternalBatch {
  /** E */
  readonly envs: number;
  /** [E, A, ...shape] */
  readonly observations: ObservationArrays;
  /** [E, A, K] */
  readonly masks: Uint8Array;
  /** [E, A] */
  readonly active: Uint8Array;
  /** [E, A] each; all entries are written in each step */
  readonly result: StepArrays;
  /** [E] 1 where the last step ended an episode */
  readonly ended: Uint8Array;
  readonly finalObservations: ObservationArrays;
  readonly finalMasks: Uint8Array;
}

/** Environments of one batch, where they run. Its functions write the arrays of the {@link ExternalBatch}. */
export interface ExternalEnvs<Spaces extends ActionSpaces = ActionSpaces> {
  /**
   * Begins episodes, each with its own seed: writes observations, masks and `active` of these environments.
   *
   * @param chosen  indices of environments
   * @param seeds   [E]
   */
  reset(chosen: readonly number[], seeds: Uint32Array): void;
  /**
   * Plays a step in every environment. Where an episode ends, the next one begins, with its seed.
   *
   * @param actions  [E, A, W], in their spaces; actions of inactive agents are to be ignored
   * @param seeds    [E] of the next episodes
   */
  step(actions: ActionsOf<Spaces>, seeds: Uint32Array): void;
  /** Frees the environments. It is called once. */
  close(): void;
}

/** Rules that run in another program. */
export interface ExternalRules<Spaces extends ActionSpaces = ActionSpaces> {
  /** E of `selfPlay` and `evaluate` where no number is asked for; at least 1 */
  readonly envs: number;
  /** Makes a batch of environments. They begin with the first `reset`. */
  open(batch: ExternalBatch): ExternalEnvs<Spaces>;
}

/** A game with actions of any spaces. `Game` alone is one of discrete actions. */
export type AnyGame<State extends DType = DType> = Game<State, ActionSpaces>;

/** The part of a game that the sizes of {@link Experience} follow from. */
export type ExperienceSpec<Spaces extends ActionSpaces = number> = Pick<
  Game<DType, Spaces>,
  'agents' | 'observation' | 'actions'
>;
