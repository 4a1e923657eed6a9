import type { TransitionStore } from '@coplay/buffers';
import type { Experience, Generator, Metrics, NamedArrays, NDArray, SavedState, Simulator } from '@coplay/core';
import type { WorldModel } from '@coplay/models';
import type { PretrainOptions, SimulatorOptions } from './options';

/** What {@link WorldModelLearner.predict} tells. */
export interface WorldModelPrediction {
  /** The most probable outcome: `next/NAME`, `rewards`, `terminated` */
  readonly happened: NamedArrays;
  /** The model's prediction, means over the members */
  readonly imagined: NamedArrays;
  /** [B] variance over the members; 0 for a single one */
  readonly disagreement: Float32Array;
  /** [B, H, W, C] the prediction as raw planes, for models of grid games */
  readonly planes?: NDArray<Float32Array>;
}

/** A world model that learns from pushed experience. */
export interface WorldModelLearner {
  readonly model: WorldModel;
  /** As JSON, for run directories. */
  readonly config: Readonly<Record<string, unknown>>;
  /**
   * Share of new transitions that were predicted exactly (all of the next state, and who ended) before they were
   * learned from, over about the last `accuracyWindow`; 0 before any were. Measured by `update`.
   */
  readonly accuracy: number;
  /** Mean squared error of the rewards of the same transitions; infinite before any were predicted. */
  readonly rewardError: number;
  /** Updates done so far. */
  readonly updates: number;
  /** Its training data. */
  readonly store: Pick<TransitionStore, 'size' | 'pushed' | 'capacity' | 'placesOf' | 'rows' | 'save'>;
  /** Makes the first parameters, unless there are some already. */
  initialise(generator: Generator): Promise<void>;
  /**
   * Keeps the transitions of real experience.
   *
   * @throws CoplayError for imagined experience, for numbers that the model can't represent (rewards beyond its bins),
   *         and for batches that cut off pasts and have no more steps than the model's history
   */
  push(experience: Experience): void;
  /**
   * Measures accuracy on new transitions, then learns from all that are held. Without any transitions it does nothing.
   */
  update(generator: Generator): Promise<Metrics>;
  /** Learns from a data set, independent of pushed experience. */
  pretrain(data: Experience | NamedArrays, options: PretrainOptions): Promise<Metrics>;
  /** Predictions of steps by all members: rows as `transitions` gives them, or as the model's `encode` does. */
  predict(rows: NamedArrays): Promise<WorldModelPrediction>;
  /** The transitions of an experience, in the form that the model reads. */
  transitions(experience: Experience): NamedArrays;
  /** Imagination: the model in the place of the game's rules, always with the parameters of the moment. */
  simulator(options?: SimulatorOptions): Simulator;
  /** Copies of the parameters of each member. */
  parameters(): Promise<NamedArrays[]>;
  state(): Promise<SavedState>;
  restore(saved: SavedState): Promise<void>;
  dispose(): void;
}
