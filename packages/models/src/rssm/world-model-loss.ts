import { type TensorRecord, tf } from '@coplay/tensor';
import { latentLosses, unimixLog } from '@coplay/tensor/distributions';
import { encodeSequence, type RecordedSequence } from './encode-sequence';
import type { DreamerNets } from './nets';
import type { RssmSequence, RssmState } from './sequences';

/** Recorded sequences, rewards and flags on arrival: index t belongs to observation t. */
export interface DreamerBatch extends RecordedSequence {
  /** [B, T] */
  readonly rewards: tf.Tensor2D;
  /** [B, T] 1 where the episode ended for good, not where a time limit cut it */
  readonly isTerminal: tf.Tensor2D;
}

/** Options of {@link worldModelLosses}. */
export interface WorldModelLossOptions {
  /** 1 - 1/horizon, which the continue head learns along with ends. Default 1 - 1/333 */
  readonly discount?: number;
  /** Below this sum over latents divergences aren't pushed, nats. Default 1 */
  readonly freeNats?: number;
}

/** What {@link worldModelLosses} returns. */
export interface WorldModelLosses {
  /** [B, T] each: `dynamics`, `representation`, `reward`, `continue`, and `reconstruction/NAME` for each observation */
  readonly losses: TensorRecord;
  /** Posterior states, differentiable */
  readonly states: RssmSequence;
  /** [B T, F] of these states */
  readonly features: tf.Tensor2D;
  /** [B, T] nats, summed over latents: `priorEntropy`, `posteriorEntropy` */
  readonly entropies: TensorRecord;
}

/**
 * The losses of DreamerV3's world model (Hafner et al. 2023, arXiv v2, eq. 2 and 3), to be weighted, averaged and added
 * up.
 *
 * @param start the states before the first steps
 * @param noise [B, T, S] uniform in [0, 1)
 */
export function worldModelLosses(
  nets: DreamerNets,
  params: TensorRecord,
  batch: DreamerBatch,
  start: RssmState,
  noise: tf.Tensor3D,
  { discount = 1 - 1 / 333, freeNats = 1 }: WorldModelLossOptions = {},
): WorldModelLosses {
  const { dyn, dec, rew, con } = nets.parts(params);
  const [rows, steps] = batch.isFirst.shape;
  const inTime = (x: tf.Tensor) => tf.reshape(x, [rows, steps]); // [B T] to [B, T]
  const flat = (x: tf.Tensor) => tf.reshape(x, [-1]); // [B, T] to [B T]

  const { states, features, observations } = encodeSequence(nets, params, batch, start, noise);
  const posterior = unimixLog(states.logits, nets.rssm.unimix); // [B, T, S, C]
  const prior = unimixLog(nets.rssm.prior(dyn, states.deter), nets.rssm.unimix); // [B, T, S, C]
  const { dynamics, representation } = latentLosses(posterior, prior, freeNats); // [B, T] each
  const deter = tf.slice(features, [0, 0], [rows * steps, nets.sizes.deter]); // [B T, D]
  const stoch = tf.reshape(states.stoch, [rows * steps, -1]) as tf.Tensor2D; // [B T, S C]
  const reconstructions = nets.decoder.losses(nets.decoder.apply(dec, { deter, stoch }), observations);
  const goesOn = tf.mul(tf.sub(1, flat(batch.isTerminal)), discount); // [B T]

  const losses: TensorRecord = {
    dynamics,
    representation,
    reward: inTime(nets.reward.loss(nets.reward.logits(rew, features), flat(batch.rewards))),
    continue: inTime(nets.continues.loss(nets.continues.logits(con, features), goesOn)),
  };
  for (const [name, loss] of Object.entries(reconstructions)) losses[`reconstruction/${name}`] = inTime(loss);
  const entropies = { priorEntropy: entropy(prior), posteriorEntropy: entropy(posterior) };
  return { losses, states, features, entropies };
}

/** [..., S, C] log-probabilities to the entropy of all latents [...]. */
function entropy(logProbs: tf.Tensor): tf.Tensor {
  return tf.neg(tf.sum(tf.mul(tf.exp(logProbs), logProbs), [-2, -1]));
}
