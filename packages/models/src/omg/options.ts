import { checkOptions } from '@coplay/core';
import { functions } from '@coplay/core/checks';
import { z } from 'zod';
import type { InputKinds, InputShapes } from '../inputs';
import { shapesSchema } from '../inputs/input-encoder';
import type { TorsoBuilder } from '../torso';

/** The target of a latent: the observed state (`reconstruction`) or the agent's action in it (`action`). */
export type OmgLoss = 'reconstruction' | 'action';

/** Options of OMG's networks. Parameters of both networks are made and named apart. */
export interface OmgNetOptions {
  /** The shapes of a state's observation */
  readonly inputs: InputShapes;
  /**
   * The contents of the inputs. `planes` are reconstructed by their chance of a 1, `codes` by the chance of each class,
   * all else with squared error. Default: inputs of shape [H, W, C] are `planes`, others vectors
   */
  readonly kinds?: InputKinds;
  /**
   * How many of the last numbers of `vector` are zeros and ones (legal actions, previous actions), which are
   * reconstructed as cells of planes are. Default 0
   */
  readonly flags?: number;
  /** K */
  readonly actions: number;
  /** D, the numbers of a subgoal, 2 to 64. Default 16 */
  readonly goalDim?: number;
  /** Units of the hidden layers of encoder, decoders and the action head, where they are ours. Default [128, 128] */
  readonly hidden?: readonly number[];
  /** Units of the layer that reads a state in the inference network, where it is ours. Default 32 */
  readonly stateUnits?: number;
  /**
   * The body of the VAE's encoder: from a state to features, which a linear layer turns into the latent's mean and
   * variance. Default: dense layers of `hidden` units with ReLU
   */
  readonly encoderNetwork?: TorsoBuilder;
  /**
   * The decoders of VAE and inference network, each with parameters of its own. They read `vector`: the latent, and in
   * the inference network then the history's state. They predict a state: arrays of the shapes of `inputs`, which are
   * logits of planes, codes and flags, and means of other numbers. With the loss `action` they read a state, with the
   * latent at the end of `vector`, and predict the logits `actions` [K]. Default: dense layers of `hidden` units with
   * ReLU and a linear one
   */
  readonly decoderNetwork?: TorsoBuilder;
  /**
   * The inference network's reader of a state: from a state to the features that the GRU reads. Default: a dense layer
   * of `stateUnits` units with ReLU
   */
  readonly inferenceNetwork?: TorsoBuilder;
  /** Units of the GRU over the history. Default 96 */
  readonly historyUnits?: number;
  /** Default `reconstruction` */
  readonly loss?: OmgLoss;
  /**
   * Weight of an occupied cell in the reconstruction, where an empty cell has 1; at least 1; the notes go up to 20.
   * Planes are mostly empty: with 1, a decoder that says how often each cell is occupied is nearly as good as one that
   * knows the state, and the latent is hardly used. Default 5
   */
  readonly occupiedWeight?: number;
  /**
   * Over the numbers of a state: their `sum`, as the likelihood of the whole state is, or their `mean`. Default `sum`
   */
  readonly reduction?: 'sum' | 'mean';
  /** Weight of the KL divergence, at least 0. Default 1 */
  readonly klWeight?: number;
}

const whole = z.int().min(1);
const schema = z.strictObject({
  inputs: shapesSchema,
  kinds: z.record(z.string(), z.looseObject({ kind: z.string() })).default({}),
  flags: z.int().min(0).default(0),
  actions: whole,
  goalDim: whole.default(16),
  hidden: z.array(whole).default([128, 128]),
  stateUnits: whole.default(32),
  historyUnits: whole.default(96),
  encoderNetwork: functions<TorsoBuilder>().optional(),
  decoderNetwork: functions<TorsoBuilder>().optional(),
  inferenceNetwork: functions<TorsoBuilder>().optional(),
  loss: z.enum(['reconstruction', 'action']).default('reconstruction'),
  occupiedWeight: z.number().min(1).default(5),
  reduction: z.enum(['sum', 'mean']).default('sum'),
  klWeight: z.number().min(0).default(1),
});

/** {@link OmgNetOptions} with the defaults filled in. */
export type OmgNetSettings = Required<Omit<OmgNetOptions, OwnNetworks>> & Pick<OmgNetOptions, OwnNetworks>;

type OwnNetworks = 'encoderNetwork' | 'decoderNetwork' | 'inferenceNetwork';

/**
 * Checks the options and fills in the defaults.
 *
 * @throws CoplayError for unknown options, or values out of range
 */
export function omgNetSettings(where: string, options: OmgNetOptions): OmgNetSettings {
  return checkOptions(where, schema, options) as OmgNetSettings;
}
