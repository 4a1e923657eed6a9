import type { RssmState } from '@coplay/models';
import { stopGradient, type TensorRecord, tf } from '@coplay/tensor';
import { type DreamerParts, meanOf, startingCoPlayers } from './data';
import { detached, type ImaginationNoise, imagineSequence } from './imagination';
import { criticLoss, policyLoss } from './losses';
import { type ReturnRange, trackReturns } from './return-range';
import { arrivalReturns, imaginedWeights } from './returns';

/** The state of actor and critic in addition to their parameters. */
export interface CriticMemory {
  /** Parameters of the slow critic, named as the critic's without `val/` */
  readonly slow: TensorRecord;
  /** Running percentiles of returns */
  readonly range: ReturnRange;
}

/** The actor-critic's part of an update. */
export interface BehaviourTerms {
  /** [] */
  readonly loss: tf.Scalar;
  /** [N] the return imagined from each start */
  readonly startReturns: tf.Tensor1D;
  readonly range: ReturnRange;
  /** Scalars, named as metrics are */
  readonly metrics: TensorRecord;
}

/**
 * Imagines from N states and judges it (Hafner et al. 2023, eq. 4-7): losses of actor and critic on H steps, means over
 * all. The world model gets no gradient: imagined states are detached, and so are the heads that are applied to them.
 *
 * @param starts states that exist: no gradient flows into them
 * @param inputs `noise/prior` [H, N, S] and `noise/actions` [H + 1, N, 1]; where co-players are modelled
 *               `noise/coPlayers` [H, N, M] and `coPlayersActive` [B, T, M]
 */
export function behaviourTerms(
  parts: DreamerParts,
  params: TensorRecord,
  { slow, range }: CriticMemory,
  starts: RssmState,
  inputs: TensorRecord,
): BehaviourTerms {
  const { nets, options } = parts;
  const { horizon: H, lossScales: scales } = options;
  const N = starts.deter.shape[0];
  const imagined = imagineSequence(nets, params, starts, noiseOf(inputs), startingCoPlayers(parts, inputs));
  // Rows step by step, as they were made: nothing large is put in another order.
  const stepwise = (x: tf.Tensor3D) => tf.reshape(tf.transpose(x, [1, 0, 2]), [(H + 1) * N, x.shape[2]]) as tf.Tensor2D;
  const features = stepwise(imagined.features);
  const table = (x: tf.Tensor) => tf.transpose(tf.reshape(x, [H + 1, N])) as tf.Tensor2D;

  const { rew, con } = nets.parts(detached(params));
  const { pol, val } = nets.parts(params);
  const rewards = table(nets.reward.mean(nets.reward.logits(rew, features)));
  const discounts = table(nets.continues.mean(nets.continues.logits(con, features)));
  const valueLogits = nets.critic.logits(val, features);
  const values = table(nets.critic.mean(stopGradient(valueLogits)));
  const slowValues = table(nets.critic.mean(nets.critic.logits(slow, features)));

  const returns = stopGradient(arrivalReturns({ rewards, discounts, values, traces: options.lambda }));
  const { low, high, scale } = trackReturns(range, returns, { rate: options.returnRate });
  const advantages = tf.div(tf.sub(returns, butLast(values)), scale);
  const weights = butLast(imaginedWeights(discounts));

  const distribution = nets.actor.distribution(pol, features);
  const codes = stepwise(imagined.actions);
  const entropies = butLast(table(nets.actor.entropy(distribution)));
  const logProbs = butLast(table(nets.actor.logProb(distribution, codes)));
  const policy = meanOf(policyLoss({ logProbs, entropies, advantages, weights }, inputs['entropyScale'] as tf.Scalar));
  // The critic is judged in all H + 1 states, and the last one left out afterwards: so its logits need no copy.
  const rows = (x: tf.Tensor2D) => tf.reshape(tf.transpose(x), [(H + 1) * N]);
  const padded = (x: tf.Tensor2D) =>
    tf.pad(x, [
      [0, 0],
      [0, 1],
    ]) as tf.Tensor2D;
  const critic = {
    logits: valueLogits,
    slowValues: rows(slowValues),
    returns: rows(padded(returns)),
    weights: rows(padded(weights)),
  };
  const value = meanOf(butLast(table(criticLoss(critic, nets.critic.bins, options.slowScale))));

  const scaled = tf.div(tf.sub(returns, low), scale);
  const spread = tf.moments(advantages);
  return {
    loss: tf.add(tf.mul(policy, scales.policy), tf.mul(value, scales.value)),
    startReturns: tf.reshape(tf.slice(returns, [0, 0], [N, 1]), [N]) as tf.Tensor1D,
    range: { low, high },
    metrics: {
      'loss/policy': policy,
      'loss/value': value,
      'dreamer/adv': spread.mean,
      'dreamer/adv_std': tf.sqrt(spread.variance),
      'dreamer/adv_mag': meanOf(tf.abs(advantages)),
      'dreamer/rew': meanOf(rewards),
      'dreamer/con': meanOf(discounts),
      'dreamer/val': meanOf(values),
      'dreamer/slowval': meanOf(slowValues),
      'dreamer/weight': meanOf(weights),
      'dreamer/tar': meanOf(returns),
      'dreamer/ret': meanOf(scaled),
      'dreamer/ret_min': tf.min(scaled),
      'dreamer/ret_max': tf.max(scaled),
      'dreamer/ret_rate': meanOf(tf.cast(tf.greaterEqual(tf.abs(scaled), 1), 'float32')),
      'dreamer/ret_scale': scale,
      'dreamer/ent_action': meanOf(entropies),
      ...(nets.actor.actions.kind === 'discrete' && {
        'dreamer/rand_action': tf.div(meanOf(entropies), Math.log(Math.max(2, nets.actor.actionSize))),
      }),
    },
  };
}

function noiseOf(inputs: TensorRecord): ImaginationNoise {
  const named = (name: string) => inputs[`noise/${name}`] as tf.Tensor3D;
  const coPlayers = named('coPlayers');
  return { latents: named('prior'), actions: named('actions'), ...(coPlayers && { coPlayers }) };
}

/** [N, H + 1, ...] without the last step. */
export function butLast<T extends tf.Tensor>(x: T): T {
  const [rows, steps, ...rest] = x.shape;
  return tf.slice(x, 0, [rows, steps - 1, ...rest]) as T;
}
