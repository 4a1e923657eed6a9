/*
 * The losses of actor and critic (Hafner et al. 2023, arXiv v2, eq. 5-7): on N imagined trajectories of H steps, and
 * for the critic also on replayed steps. A trajectory has H + 1 states; a loss has H steps, since the last state has no
 * return.
 */
import { checkShapes } from '@coplay/core';
import { checkArgument, checkNumber, checkNumbers, checkRecord, typedArrays } from '@coplay/core/checks';
import { checkTensor, stopGradient, type TensorRecord, tf } from '@coplay/tensor';
import { twoHotLoss } from '@coplay/tensor/distributions';
import { type DreamerParts, meanOf } from './data';
import { detached, type ImaginedSequence } from './imagination';
import { arrivalReturns, imaginedWeights, type ReturnRange, replayReturns, trackReturns } from './returns';

/** Imagined steps, [...] each, all of one shape. */
export interface PolicyInputs {
  /** Of the actions taken; differentiable */
  readonly logProbs: tf.Tensor;
  /** Of the policy in each state; differentiable */
  readonly entropies: tf.Tensor;
  /** (R - v) / scale, no gradient flows into them */
  readonly advantages: tf.Tensor;
  /** Of `imaginedWeights`, no gradient flows into them */
  readonly weights: tf.Tensor;
}

/**
 * DreamerV3's actor loss (Hafner et al. 2023, arXiv v2, eq. 6), REINFORCE with an entropy bonus, step by step:
 * -w (log p(a | s) sg(A) + scale H).
 *
 * @param entropyScale 0 or more; DreamerV3 has 3e-4
 * @returns as the inputs
 * @throws CoplayError for tensors of different shapes
 */
export function policyLoss(inputs: PolicyInputs, entropyScale: number | tf.Scalar): tf.Tensor {
  checkRecord('policyLoss', 'inputs', inputs);
  const { logProbs, entropies, advantages, weights } = inputs;
  checkTensor('policyLoss', 'logProbs', logProbs);
  if (typeof entropyScale === 'number') checkNumber('policyLoss', 'entropyScale', entropyScale);
  else checkTensor('policyLoss', 'entropyScale', entropyScale);
  checkShapes('policyLoss', { entropies, advantages, weights }, logProbs.shape.join(' '));
  const score = tf.mul(logProbs, stopGradient(advantages));
  return tf.neg(tf.mul(stopGradient(weights), tf.add(score, tf.mul(entropies, entropyScale))));
}

/** Inputs of {@link criticLoss}. */
export interface CriticInputs {
  /** [..., bins] differentiable */
  readonly logits: tf.Tensor;
  /** [...] lambda-returns */
  readonly returns: tf.Tensor;
  /** [...] values of the slow critic, to which the critic is held */
  readonly slowValues: tf.Tensor;
  /** [...] of `imaginedWeights`, or on replayed steps 1 - isLast */
  readonly weights: tf.Tensor;
}

/**
 * DreamerV3's critic loss (Hafner et al. 2023, arXiv v2, eq. 5 and below), step by step: w (CE(v, sg(R)) + slowScale
 * CE(v, sg(slow v))), the cross entropy of a distribution over bins with a number. Gradients flow into the logits
 * alone.
 *
 * @param bins      [bins] their places
 * @param slowScale at least 0
 * @returns [...]
 * @throws CoplayError for tensors of different shapes
 */
export function criticLoss(inputs: CriticInputs, bins: Float32Array, slowScale = 1): tf.Tensor {
  checkRecord('criticLoss', 'inputs', inputs);
  checkArgument('criticLoss', 'bins', typedArrays('float32'), bins);
  checkNumber('criticLoss', 'slowScale', slowScale, { min: 0 });
  const { logits, returns, slowValues, weights } = inputs;
  checkTensor('criticLoss', 'logits', logits);
  checkNumbers('criticLoss', 'bins', bins, { length: logits.shape.at(-1) ?? 1 });
  checkShapes('criticLoss', { returns, slowValues, weights }, logits.shape.slice(0, -1).join(' '));
  const targets = [
    { values: returns, weight: 1 },
    { values: slowValues, weight: slowScale },
  ];
  return tf.mul(stopGradient(weights), twoHotLoss(logits, targets, bins));
}

/** The state of actor and critic in addition to their parameters. */
export interface CriticMemory {
  /** Parameters of the slow critic, named as the critic's without `val/` */
  readonly slow: TensorRecord;
  /** Running percentiles of returns */
  readonly range: ReturnRange;
}

/** The loss of actor and critic on imagined trajectories. */
export interface BehaviourLoss {
  /** [] */
  readonly loss: tf.Scalar;
  /** [N] the return imagined from each start */
  readonly startReturns: tf.Tensor1D;
  readonly range: ReturnRange;
  /** Scalars, named as metrics are */
  readonly metrics: TensorRecord;
}

/**
 * The losses of actor and critic on imagined trajectories (eq. 5-7), means over all steps, weighted by the options and
 * added up. The world model gets no gradient: its heads are detached here, as the imagined states are.
 *
 * @param entropyScale [] weight of the policy's entropy
 */
export function behaviourLoss(
  { nets, options }: DreamerParts,
  params: TensorRecord,
  { slow, range }: CriticMemory,
  imagined: ImaginedSequence,
  entropyScale: tf.Scalar,
): BehaviourLoss {
  const [N, L] = imagined.features.shape; // L = H + 1
  // Rows step by step, as they were imagined: nothing large is put in another order.
  const inRows = (x: tf.Tensor3D) => tf.reshape(tf.transpose(x, [1, 0, 2]), [L * N, x.shape[2]]) as tf.Tensor2D;
  const inTable = (x: tf.Tensor) => tf.transpose(tf.reshape(x, [L, N])) as tf.Tensor2D; // [L N] to [N, L]
  const { rew, con } = nets.parts(detached(params));
  const { pol, val } = nets.parts(params);

  // What the heads predict in every imagined state
  const features = inRows(imagined.features); // [L N, F]
  const rewards = inTable(nets.reward.mean(nets.reward.logits(rew, features))); // [N, L]
  const discounts = inTable(nets.continues.mean(nets.continues.logits(con, features))); // [N, L]
  const valueLogits = nets.critic.logits(val, features); // [L N, bins]
  const values = inTable(nets.critic.mean(stopGradient(valueLogits))); // [N, L]
  const slowValues = inTable(nets.critic.mean(nets.critic.logits(slow, features))); // [N, L]

  // Targets
  const returns = stopGradient(arrivalReturns({ rewards, discounts, values, traces: options.lambda })); // [N, H]
  const { low, high, scale } = trackReturns(range, returns, { rate: options.returnRate }); // [] each
  const advantages = tf.div(tf.sub(returns, butLast(values)), scale); // [N, H]
  const weights = butLast(imaginedWeights(discounts)); // [N, H]

  // Actor
  const distribution = nets.actor.distribution(pol, features);
  const codes = inRows(imagined.actions); // [L N, A]
  const entropies = butLast(inTable(nets.actor.entropy(distribution))); // [N, H]
  const logProbs = butLast(inTable(nets.actor.logProb(distribution, codes))); // [N, H]
  const policy = meanOf(policyLoss({ logProbs, entropies, advantages, weights }, entropyScale)); // []

  // Critic: its loss is taken in all L states, and the last one left out afterwards, so that its logits need no copy.
  const inStates = (x: tf.Tensor2D) => tf.reshape(tf.transpose(x), [L * N]); // [N, L] to [L N]
  const critic = {
    logits: valueLogits, // [L N, bins]
    slowValues: inStates(slowValues), // [L N]
    returns: inStates(padded(returns)), // [L N]
    weights: inStates(padded(weights)), // [L N]
  };
  const value = meanOf(butLast(inTable(criticLoss(critic, nets.critic.bins, options.slowScale)))); // []

  const { policy: policyScale, value: valueScale } = options.lossScales;
  return {
    loss: tf.add(tf.mul(policy, policyScale), tf.mul(value, valueScale)),
    startReturns: tf.reshape(tf.slice(returns, [0, 0], [N, 1]), [N]) as tf.Tensor1D,
    range: { low, high },
    metrics: {
      'loss/policy': policy,
      'loss/value': value,
      ...advantageMetrics(advantages),
      'dreamer/rew': meanOf(rewards),
      'dreamer/con': meanOf(discounts),
      'dreamer/val': meanOf(values),
      'dreamer/slowval': meanOf(slowValues),
      'dreamer/weight': meanOf(weights),
      'dreamer/tar': meanOf(returns),
      ...returnMetrics(tf.div(tf.sub(returns, low), scale)),
      'dreamer/ret_scale': scale,
      'dreamer/ent_action': meanOf(entropies),
      'dreamer/rand_action': randomness(nets, entropies),
    },
  };
}

/** How random the policy is, from 0 to 1: where its mean entropy lies between the least and the greatest one. */
function randomness({ actor }: DreamerParts['nets'], entropies: tf.Tensor): tf.Scalar {
  const [low, high] = actor.entropyRange;
  return tf.div(tf.sub(meanOf(entropies), low), high > low ? high - low : 1);
}

/** [N, H] to [N, H + 1], with zeros in the last state */
function padded(x: tf.Tensor2D): tf.Tensor2D {
  const [none, one]: [number, number][] = [0, 1].map((after) => [0, after]);
  return tf.pad(x, [none, one]);
}

/** [N, H] */
function advantageMetrics(advantages: tf.Tensor): TensorRecord {
  const { mean, variance } = tf.moments(advantages);
  return {
    'dreamer/adv': mean,
    'dreamer/adv_std': tf.sqrt(variance),
    'dreamer/adv_mag': meanOf(tf.abs(advantages)),
  };
}

/** [N, H] returns as shares of their range */
function returnMetrics(scaled: tf.Tensor): TensorRecord {
  return {
    'dreamer/ret': meanOf(scaled),
    'dreamer/ret_min': tf.min(scaled),
    'dreamer/ret_max': tf.max(scaled),
    'dreamer/ret_rate': meanOf(tf.cast(tf.greaterEqual(tf.abs(scaled), 1), 'float32')),
  };
}

/** The critic's loss on replayed steps, and its metrics. */
export interface ReplayValueLoss {
  /** [] */
  readonly loss: tf.Scalar;
  /** Scalars, named as metrics are */
  readonly metrics: TensorRecord;
}

/**
 * The critic learns from the real rewards of the last K steps of each sequence, with imagined returns for what lies
 * beyond (DreamerV3's "replay critic loss"). Its gradient flows into the features, and so into encoder and recurrent
 * model, where those are differentiable.
 *
 * @param slow         parameters of the slow critic
 * @param features     [B T, F]
 * @param startReturns [B K] imagined from these steps
 * @param inputs       `rewards`, `isLast`, `isTerminal` and `isFirst` [B, T] of the batch
 * @returns nothing where K is 1: a step's target needs the step after it
 */
export function replayValueLoss(
  { nets, options }: DreamerParts,
  params: TensorRecord,
  slow: TensorRecord,
  features: tf.Tensor2D,
  startReturns: tf.Tensor1D,
  inputs: TensorRecord,
): ReplayValueLoss | undefined {
  const K = options.starts;
  if (K < 2 || options.lossScales.replayValue === 0) return undefined;
  const [B, T] = inputs['isFirst'].shape;
  const F = nets.rssm.featureSize;
  const inTable = (x: tf.Tensor) => tf.reshape(x, [B, K]) as tf.Tensor2D; // [B K] to [B, K]
  const lastSteps = (name: string) => tf.slice(inputs[name], [0, T - K], [B, K]) as tf.Tensor2D; // [B, K]
  const cut = tf.slice(tf.reshape(features, [B, T, F]), [0, T - K, 0], [B, K, F]); // [B, K, F]
  const own = tf.reshape(cut, [B * K, F]) as tf.Tensor2D;

  const isLast = lastSteps('isLast');
  const steps = { rewards: lastSteps('rewards'), isTerminal: lastSteps('isTerminal'), isLast };
  const discount = 1 - 1 / options.discountHorizon;
  const returns = replayReturns({ ...steps, imagined: inTable(startReturns) }, discount, options.lambda); // [B, K - 1]
  const slowValues = inTable(nets.critic.mean(nets.critic.logits(slow, stopGradient(own)))); // [B, K]
  const logits = tf.reshape(nets.critic.logits(nets.parts(params).val, own), [B, K, nets.sizes.bins]); // [B, K, bins]
  const critic = {
    logits: butLast(logits),
    returns,
    slowValues: butLast(slowValues),
    weights: butLast(tf.sub(1, isLast) as tf.Tensor2D),
  };
  const loss = meanOf(criticLoss(critic, nets.critic.bins, options.slowScale)); // []
  return { loss: tf.mul(loss, options.lossScales.replayValue), metrics: { 'loss/repval': loss } };
}

/** [N, T, ...] to [N, T - 1, ...] */
function butLast<T extends tf.Tensor>(x: T): T {
  const [rows, steps, ...rest] = x.shape;
  return tf.slice(x, 0, [rows, steps - 1, ...rest]) as T;
}
