import { type DreamerBatch, type DreamerNets, oneHotCode, type RssmState } from '@coplay/models';
import { type TensorRecord, tf } from '@coplay/tensor';
import type { ResolvedDreamerOptions } from './options';

/** What every part of an update needs. */
export interface DreamerParts {
  readonly nets: DreamerNets;
  readonly options: ResolvedDreamerOptions;
}

/**
 * The inputs of an update as a batch. A batch of arrays has
 *
 *   obs/NAME                                    [B, T, ...]
 *   previousActions                             [B, T] int32, that led here; -1: none
 *   rewards, isFirst, isLast, isTerminal        [B, T] on arrival
 *   legal                                       [B, T, K] where the legal actions are learned
 *   startDeter, startStoch                      [B, D], [B, S] the state before the first step, its classes as int32
 */
export function batchOf({ nets }: DreamerParts, inputs: TensorRecord): DreamerBatch {
  return {
    observations: observationsOf(nets, inputs),
    actions: oneHotCode(inputs['previousActions'], nets.actor.actionSize) as tf.Tensor3D,
    rewards: inputs['rewards'] as tf.Tensor2D,
    isFirst: inputs['isFirst'] as tf.Tensor2D,
    isTerminal: inputs['isTerminal'] as tf.Tensor2D,
  };
}

/** `obs/NAME` of the inputs by NAME. */
export function observationsOf(nets: DreamerNets, inputs: TensorRecord): TensorRecord {
  return Object.fromEntries(Object.keys(nets.observations).map((name) => [name, inputs[`obs/${name}`]]));
}

/** The states before the first steps. */
export function startOf({ nets }: DreamerParts, inputs: TensorRecord): RssmState {
  const rows = inputs['isFirst'].shape[0];
  if (!inputs['startDeter']) return nets.rssm.initial(rows);
  return stateOf(nets, inputs['startDeter'], inputs['startStoch']);
}

/** A state of its numbers [..., D] and the classes [..., S] of its latents. */
export function stateOf(nets: DreamerNets, deter: tf.Tensor, classes: tf.Tensor): RssmState {
  return { deter: deter as tf.Tensor2D, stoch: oneHotCode(classes, nets.sizes.classes) as tf.Tensor3D };
}

/** The classes [..., S] int32 of one-hot latents [..., S, C]. */
export function classesOf(stoch: tf.Tensor): tf.Tensor {
  return tf.argMax(stoch, -1);
}

/** A mean over everything, []. */
export function meanOf(x: tf.Tensor): tf.Scalar {
  return tf.mean(x) as tf.Scalar;
}
