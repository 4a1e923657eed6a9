import type { ActionSpaces, ActionsOf } from './action-spaces';
import type { AgentId } from './game';
import type { Generator } from './generator';
import type { Metrics } from './metrics';
import type { ObservationArrays } from './observations';
import type { ArrayOf, DType, NamedArrays, TypedArray } from './typed-arrays';

/** The inputs from which one agent chooses its actions in B games at once. The arrays are views: copy what you keep. */
export interface AgentInput<Spaces extends ActionSpaces = number> {
  /** B */
  readonly rows: number;
  /** [B, ...shape] for each field of the game's observation */
  readonly observations: ObservationArrays;
  /** [B, K] 1 where the action is legal; K is the size of the mask of the agent's own space (0 for a box) */
  readonly masks: Uint8Array;
  /** [B] 1 where the agent still plays; the action of other rows is ignored */
  readonly active: Uint8Array;
  /** [B] 1 in the first step of an episode: the agent's state for this row must start anew */
  readonly isFirst: Uint8Array;
  /**
   * [B, A] the actions of all agents in the previous step; -1 in the first step and for agents that had left. In other
   * spaces [B, A, W], and NaN for -1 where an agent has a box
   */
  readonly previousActions: ActionsOf<Spaces>;
  /** [B, S] the game's states; only of games in which each agent sees all of the state (`game.observesState`) */
  readonly states?: ArrayOf<DType>;
}

/** An agent's actions, and its state for the next call. */
export interface AgentOutput<State extends Saved = Saved, Spaces extends ActionSpaces = number> {
  /** [B] in 0..K-1; [B, w] with the w values of the agent's own space, Float32Array for a box */
  readonly actions: ActionsOf<Spaces>;
  /** The recurrent state for the next call: any value that a checkpoint can hold. */
  readonly state: State;
  /** [B, ...] named numbers to be stored with the experience: `logProbs`, `values`, subgoals, search policies. */
  readonly extras?: NamedArrays;
}

/** What everyone can see of a step after it was played; B games. */
export interface AgentStep<Spaces extends ActionSpaces = number> {
  readonly rows: number;
  /** [B, A] of everyone; in other spaces [B, A, W] */
  readonly actions: ActionsOf<Spaces>;
  /** [B, A] who was playing before the step */
  readonly active: Uint8Array;
  /** [B, A] */
  readonly rewards: Float32Array;
  /** [B] 1 where the episode ended with this step */
  readonly ended: Uint8Array;
  /** [B, A] cumulative */
  readonly terminated: Uint8Array;
  /** [B, A] for each info of the game */
  readonly infos: Record<string, Float32Array>;
  /**
   * [B, S] the games' states after the step, before a next episode begins; only of games in which each agent sees all
   * of the state (`game.observesState`)
   */
  readonly states?: ArrayOf<DType>;
}

/**
 * A player: a rule, a network, a person. An agent gets its id when it's made and keeps it.
 *
 * `act` is a function of its arguments: the state of an episode goes in and comes out. Memory that outlives an episode
 * (beliefs, counts) stays in the agent: `observe` updates it, `save` returns it.
 */
export interface Agent<State extends Saved = Saved, Spaces extends ActionSpaces = number> {
  readonly id: AgentId;
  /** For tables: `NearestStag`, `PPO`. */
  readonly name: string;
  /**
   * The options that made it, without game and id, as JSON, so that `loadRun` can make it again. Agents that learn have
   * `learner.config` for that. Default: it can't be made again from a file
   */
  readonly options?: Readonly<Record<string, unknown>>;
  /** The recurrent state of B games that are about to begin. */
  initialState(rows: number): State;
  act(
    input: AgentInput<Spaces>,
    state: State,
    generator: Generator,
  ): AgentOutput<State, Spaces> | Promise<AgentOutput<State, Spaces>>;
  /** Called after each step, with what everyone can see of it. */
  observe?(step: AgentStep<Spaces>): void;
  /**
   * How it chose this answer, as named numbers [B, ...]: recordings keep them, experience doesn't. It changes nothing,
   * and the answers of `act` are the same without it.
   */
  insight?(
    input: AgentInput<Spaces>,
    state: State,
    output: AgentOutput<State, Spaces>,
  ): NamedArrays | Promise<NamedArrays>;
  /** The memory that outlives an episode, for checkpoints and for `evaluate`, which restores it afterwards. */
  save?(): SavedState;
  restore?(saved: SavedState): void;
}

/** Anything a checkpoint can hold: JSON values, typed arrays, arrays with a shape, and records and lists of them. */
export type Saved =
  | null
  | boolean
  | number
  | string
  | TypedArray
  | { readonly data: TypedArray; readonly shape: readonly number[] }
  | readonly Saved[]
  | SavedState;

/** A record of saved things. */
export interface SavedState {
  readonly [key: string]: Saved;
}

/** The learning half of an agent: it receives experience and returns metrics. */
export interface Trainer<Data> {
  update(data: Data): Metrics | Promise<Metrics>;
  /** Everything that's needed to go on to the bit: parameters, optimiser, normalisers, counters. */
  state(): SavedState | Promise<SavedState>;
  /** Takes all of it over, in place. */
  restore(saved: SavedState): void | Promise<void>;
  /** Frees memory outside JavaScript's reach. */
  dispose(): void;
}
