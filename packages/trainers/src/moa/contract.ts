import type { MoaBuffer } from '@coplay/buffers';
import type {
  ActionSpaces,
  ActionsOf,
  Agent,
  AgentId,
  AgentInput,
  Experience,
  Generator,
  Metrics,
  NamedArrays,
  ObservationArrays,
  SavedState,
} from '@coplay/core';
import type { MoaPretrainOptions } from './options';

/**
 * Which goal a modelled agent pursues in the episode that begins in row `row`: 0..G-1, or -1 for "unknown".
 * Draw from beliefs, from counts, or return a fixed one.
 */
export type GoalChoice<Spaces extends ActionSpaces = number> = (
  row: number,
  input: AgentInput<Spaces>,
  generator: Generator,
) => number;

/** A modelled agent's state from step to step. */
export type MoaAgentState = {
  /** [B] the goal of each row's episode */
  readonly goals: Int32Array;
  /** [B, stateSize] */
  readonly memory: Float32Array;
};

/**
 * A co-player's observations in B games, from which its next actions are predicted. `otherView` computes them from the
 * observer's observations.
 */
export interface MoaView<Spaces extends ActionSpaces = number> {
  /** B */
  readonly rows: number;
  /** [B, ...] for each field of the game's observation, as the co-player sees them */
  readonly observations: ObservationArrays;
  /** [B, K] its legal actions; [B, 0] of a box */
  readonly masks: Uint8Array;
  /**
   * [B, A] what everyone did in the step before, in other spaces [B, A, W]; needed with the option `previousActions`.
   * Default: nothing is known (-1, NaN where an agent has a box)
   */
  readonly previousActions?: ActionsOf<Spaces>;
  /** [B, stateSize] the recurrent state, zero where an episode begins; needed by recurrent models */
  readonly state?: Float32Array;
}

/** The models that one agent has of its co-players. */
export interface MoaLearner<Spaces extends ActionSpaces = number> {
  /** The observer. */
  readonly id: AgentId;
  readonly coPlayers: readonly AgentId[];
  /** G, goals that predictions depend on; 0 for plain models */
  readonly goals: number;
  /** Units of the recurrent state; 0 for models of the present step. */
  readonly stateSize: number;
  /** Updates in which something was learned. */
  readonly updates: number;
  /** Changes whenever parameters have changed: trained, pretrained or restored. For callers that cache predictions. */
  readonly version: number;
  /** The rows that they learn from. */
  readonly buffer: MoaBuffer;
  /** As JSON, for run directories and checkpoints. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Makes the first parameters, unless there are some already. */
  initialise(generator: Generator): Promise<void>;
  /**
   * Takes the next piece of a rollout: its finished episodes go to the buffer, the goals they showed to the counts.
   *
   * @throws CoplayError for imagined experience
   */
  push(experience: Experience<Spaces>): void;
  /**
   * Learns from the rows held, once `minRows` new ones have come; before that it first measures its accuracy on the new
   * ones.
   *
   * @returns keys `moa/...`; {} without co-players
   */
  update(generator: Generator): Promise<Metrics>;
  /**
   * Learns from a data set: experience, or rows by co-player made by `moaRows` (networks without rows stay as they
   * are). Buffer and counts are left alone.
   *
   * @returns the metrics of each epoch
   */
  pretrain(
    data: Experience<Spaces> | Readonly<Record<AgentId, NamedArrays>>,
    options: MoaPretrainOptions,
  ): Promise<readonly Metrics[]>;
  /**
   * Predicts a co-player's actions.
   *
   * @param goals  [B] in -1..G-1, -1 for unknown; a plain model reads none of it
   * @returns [B, K] log-probabilities, very low for illegal actions, those of several choices one after the other; of a
   *          box [B, 2w], the means of its w values, then the logarithms of their standard deviations
   */
  predict(coPlayer: AgentId, view: MoaView<Spaces>, goals?: Int32Array): Promise<Float32Array>;
  /** The prediction of `predict`, and the recurrent state after the step, [B, stateSize]. */
  step(
    coPlayer: AgentId,
    view: MoaView<Spaces>,
    goals?: Int32Array,
  ): Promise<{ readonly policy: Float32Array; readonly state: Float32Array }>;
  /**
   * Predictions of whole episodes, as `moaRows` makes them, with the goals in their column `goals`.
   *
   * @returns for each row what `predict` returns
   */
  predictRows(coPlayer: AgentId, rows: NamedArrays): Promise<Float32Array>;
  /**
   * An agent that plays the co-player's seat by its model, for imagined rollouts.
   *
   * @param goalsOf  the goal of a row's episode, asked when it begins. Default: drawn from `prior(coPlayer)`
   */
  agent(coPlayer: AgentId, goalsOf?: GoalChoice<Spaces>): Agent<MoaAgentState, Spaces>;
  /**
   * Top-1 accuracy, in [0, 1], on the newest rows before they were trained on (their goals known in hindsight).
   * 0 before it was measured, so that what waits for an accuracy waits, and for a box; `update` reports it only once it
   * was measured, and of a box `moa/log_likelihood` and `moa/absolute_error`.
   */
  accuracy(coPlayer: AgentId): number;
  /** [G] discounted counts of the goals that the co-player showed; all 1 at first. */
  goalCounts(coPlayer: AgentId): Float64Array;
  /** [G] the counts as probabilities, to draw imagined goals from; [] for plain models. */
  prior(coPlayer: AgentId): Float64Array;
  /** Copies of a co-player's parameters. */
  parameters(coPlayer: AgentId): Promise<NamedArrays>;
  /** Everything: networks, optimisers, buffer, counts. */
  state(): Promise<SavedState>;
  restore(saved: SavedState): Promise<void>;
  dispose(): void;
}
