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
 *   coPlayerActions                             [B, T, M] int32 as previousActions, where co-players are modelled
 *   coPlayersActive                             [B, T, M] 1 for co-players that act after this observation
 *   startDeter, startStoch                      [B, D], [B, S] the state before the first step, its classes as int32
 */
export function batchOf({ nets }: DreamerParts, inputs: TensorRecord): DreamerBatch {
  return {
    observations: observationsOf(nets, inputs),
    actions: previousCodes(nets, inputs) as tf.Tensor3D,
    rewards: inputs['rewards'] as tf.Tensor2D,
    isFirst: inputs['isFirst'] as tf.Tensor2D,
    isTerminal: inputs['isTerminal'] as tf.Tensor2D,
  };
}

/**
 * Codes of the actions that led here, [..., K]; with the co-players' after the agent's own where they are modelled,
 * [..., K + M K].
 */
export function previousCodes({ actor, coPlayers }: DreamerNets, inputs: TensorRecord): tf.Tensor {
  const own = oneHotCode(inputs['previousActions'], actor.actionSize);
  return coPlayers ? tf.concat([own, coPlayers.code(inputs['coPlayerActions'])], -1) : own;
}

/** Who of the co-players acts in the last K states of each sequence, [B K, M]; nothing where they aren't modelled. */
export function startingCoPlayers({ nets, options }: DreamerParts, inputs: TensorRecord): tf.Tensor2D | undefined {
  if (!nets.coPlayers) return undefined;
  const [B, T, M] = inputs['coPlayersActive'].shape;
  const K = Math.min(options.starts, T);
  return tf.reshape(tf.slice(inputs['coPlayersActive'], [0, T - K, 0], [B, K, M]), [B * K, M]);
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
