/*
 * PPO (Schulman et al. 2017), top to bottom: what actor and critic are trained towards, the losses, and the functions
 * of tensors that act, value and update. Shapes: E environments, T steps, A agents, B rows (steps, flat), K actions;
 * where the network is recurrent a row is a sequence of L steps and B = rows x L.
 */
import {
  type ActionSpaces,
  bootstrapValues,
  checkShapes,
  type Experience,
  gae,
  lambdaReturns,
  monteCarloReturns,
} from '@coplay/core';
import { checkArgument, checkExperience, checkNumber, checkNumbers, checkRecord } from '@coplay/core/checks';
import { mapColumns } from '@coplay/core/rows';
import type { ActorCritic, RecordedRows } from '@coplay/models';
import {
  checkTensor,
  type Optimiser,
  type StepFunction,
  stopGradient,
  type TensorRecord,
  tf,
  valueAndGradients,
} from '@coplay/tensor';
import { z } from 'zod';
import type { ActionDistribution } from '../training/action-distribution';
import { ppoSchema, type ResolvedPpoOptions } from './options';

/** What actor and critic are trained towards; [E, T, A] each, 0 where an agent was not active. */
export interface Targets {
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
}

/** A critic's values of an experience, in the unit of returns. */
export interface Valuation {
  /** [E, T, A] of the observations before each step */
  readonly values: Float32Array;
  /** [N, A] of the observations after each cut */
  readonly cutValues: Float32Array;
}

/** The parts of PPO's options that make targets. */
export type TargetOptions = Pick<ResolvedPpoOptions, 'gamma' | 'lambda' | 'returns' | 'truncation'>;

const { gamma, lambda, returns, truncation } = ppoSchema.shape;
const optionsSchema = z.looseObject({
  gamma: gamma.unwrap(),
  lambda: lambda.unwrap(),
  returns: returns.unwrap(),
  truncation: truncation.unwrap(),
});

/**
 * Returns and advantages of recorded experience.
 *
 * @param values    [E, T, A] of the critic that is to be trained
 * @param cutValues [N, A] of the observations after each cut
 */
export function ppoTargets(
  experience: Experience<ActionSpaces>,
  values: Float32Array,
  cutValues: Float32Array,
  options: TargetOptions,
): Targets {
  checkExperience('ppoTargets', experience, 'experience', 'any');
  checkNumbers('ppoTargets', 'values', values, { length: experience.rewards.length, nan: true });
  const places = experience.cuts.env.length * experience.agents.length;
  checkNumbers('ppoTargets', 'cutValues', cutValues, { length: places, nan: true });
  checkArgument('ppoTargets', 'options', optionsSchema, options);
  const nextValues = bootstrapValues(experience, values, cutValues, { truncation: options.truncation });
  const steps = { ...experience, values, nextValues };
  if (options.returns === 'gae') return gae(steps, options);
  const returns = options.returns === 'lambda' ? lambdaReturns(steps, options) : monteCarloReturns(steps, options);
  return {
    returns,
    advantages: returns.map((target, row) => (experience.active[row] === 1 ? target - values[row] : 0)),
  };
}

/**
 * The same targets, unless `zero-imagined-reward` is on and the experience was imagined: then the critic's returns are
 * those without any reward, while the actor's advantages stay.
 */
export function imaginedTargets(
  experience: Experience<ActionSpaces>,
  { values, cutValues }: Valuation,
  targets: Targets,
  options: TargetOptions & Pick<ResolvedPpoOptions, 'imaginedCritic'>,
): Targets {
  const isImagined = experience.isImagined[0] === 1;
  if (!isImagined || options.imaginedCritic !== 'zero-imagined-reward') return targets;
  const unpaid = { ...experience, rewards: new Float32Array(experience.rewards.length) };
  return { advantages: targets.advantages, returns: ppoTargets(unpaid, values, cutValues, options).returns };
}

/** sum(weights x) / sum(weights): the mean over the rows that count. 0 where none does. */
export function weightedMean(x: tf.Tensor1D, weights: tf.Tensor1D): tf.Scalar {
  checkShapes('weightedMean', { x, weights }, 'B');
  return tf.sum(tf.mul(x, shares(weights))) as tf.Scalar;
}

/** Weights that sum to 1. The losses and metrics of a step all need these, which a compiled graph computes once. */
function shares(weights: tf.Tensor1D): tf.Tensor1D {
  return tf.div(weights, tf.maximum(tf.sum(weights), 1e-8));
}

/** Inputs of {@link clippedSurrogate}: [B] each. */
export interface SurrogateInputs {
  /** Of the taken actions, under the current parameters; differentiable. */
  readonly logProbs: tf.Tensor1D;
  /** Of the same actions when they were taken. */
  readonly oldLogProbs: tf.Tensor1D;
  readonly advantages: tf.Tensor1D;
  readonly weights: tf.Tensor1D;
}

/**
 * Clipped surrogate objective (Schulman et al. 2017, eq. 7): -mean(min(r A, clip(r, 1 - e, 1 + e) A)), r = exp(logProbs
 * - oldLogProbs).
 *
 * @param clip  e, above 0
 * @returns [] to be minimised
 */
export function clippedSurrogate(inputs: SurrogateInputs, clip: tf.Scalar | number): tf.Scalar {
  checkRecord('clippedSurrogate', 'inputs', inputs);
  const { logProbs, oldLogProbs, advantages, weights } = inputs;
  checkShapes('clippedSurrogate', { logProbs, oldLogProbs, advantages, weights }, 'B');
  checkClip('clippedSurrogate', clip);
  const ratio = tf.exp(tf.sub(logProbs, oldLogProbs));
  // Where the clipped side is the smaller one, the ratio is out of range and has no gradient through it: none is
  // computed.
  const clipped = stopGradient(tf.minimum(tf.maximum(ratio, tf.sub(1, clip)), tf.add(1, clip)));
  const surrogate = tf.minimum(tf.mul(ratio, advantages), tf.mul(clipped, advantages)) as tf.Tensor1D;
  return tf.neg(weightedMean(surrogate, weights));
}

/** Inputs of {@link valueLoss}: [B] each. */
export interface ValueInputs {
  /** Under the current parameters; differentiable. */
  readonly values: tf.Tensor1D;
  /** When the data were collected. */
  readonly oldValues: tf.Tensor1D;
  readonly returns: tf.Tensor1D;
  readonly weights: tf.Tensor1D;
}

/** Options of {@link valueLoss}. */
export interface ValueLossOptions {
  /** Range around the old value; false for none. */
  readonly clip: number | false;
  /** Huber's delta; false for squares. */
  readonly huberDelta: number | false;
}

/**
 * The critic's loss: mean(max(l(V - R), l(clip(V, V_old - e, V_old + e) - R))) with l(x) = x^2 / 2, or Huber's function
 * x^2 / 2 for |x| <= d, else d (|x| - d / 2). Without a clip it's mean(l(V - R)).
 *
 * @returns [] to be minimised
 */
export function valueLoss(inputs: ValueInputs, options: ValueLossOptions): tf.Scalar {
  checkRecord('valueLoss', 'inputs', inputs);
  checkRecord('valueLoss', 'options', options);
  const { clip, huberDelta } = options;
  const { values, oldValues, returns, weights } = inputs;
  checkShapes('valueLoss', { values, oldValues, returns, weights }, 'B');
  if (clip !== false) checkNumber('valueLoss', 'options.clip', clip, { above: 0 });
  if (huberDelta !== false) checkNumber('valueLoss', 'options.huberDelta', huberDelta, { above: 0 });
  const plain = penalty(tf.sub(values, returns), huberDelta);
  if (clip === false) return weightedMean(plain, weights);
  const change = tf.clipByValue(tf.sub(values, oldValues), -clip, clip);
  const clipped = penalty(tf.sub(tf.add(oldValues, change), returns), huberDelta);
  return weightedMean(tf.maximum(plain, clipped), weights);
}

/** A number, or a scalar whose value only the graph knows. */
function checkClip(where: string, clip: tf.Scalar | number): void {
  if (typeof clip === 'number') checkNumber(where, 'clip', clip, { min: 0 });
  else checkTensor(where, 'clip', clip);
}

/** x^2 / 2, or Huber's function of it: m (|x| - m / 2) with m = min(|x|, d). */
function penalty(x: tf.Tensor1D, delta: number | false): tf.Tensor1D {
  if (delta === false) return tf.mul(tf.square(x), 0.5);
  const size = tf.abs(x);
  const inside = tf.minimum(size, delta);
  return tf.mul(inside, tf.sub(size, tf.mul(inside, 0.5)));
}

/** What {@link policyDiagnostics} measures. */
export interface PolicyDiagnostics {
  /** mean((r - 1) - log r), the low-variance estimate (Schulman 2020, k3) */
  readonly approxKl: tf.Scalar;
  /** mean(-log r), k1 */
  readonly approxKl1: tf.Scalar;
  /** Share of rows whose ratio left [1 - e, 1 + e] */
  readonly clipFraction: tf.Scalar;
}

/** How far the policy has moved from the one that collected the data. No gradient is meant to flow through it. */
export function policyDiagnostics(
  inputs: Omit<SurrogateInputs, 'advantages'>,
  clip: tf.Scalar | number,
): PolicyDiagnostics {
  checkRecord('policyDiagnostics', 'inputs', inputs);
  const { logProbs, oldLogProbs, weights } = inputs;
  checkShapes('policyDiagnostics', { logProbs, oldLogProbs, weights }, 'B');
  checkClip('policyDiagnostics', clip);
  const logRatio = tf.sub(logProbs, oldLogProbs) as tf.Tensor1D;
  const excess = tf.sub(tf.exp(logRatio), 1) as tf.Tensor1D;
  const outside = tf.cast(tf.greater(tf.abs(excess), clip), 'float32') as tf.Tensor1D;
  return {
    approxKl: weightedMean(tf.sub(excess, logRatio), weights),
    approxKl1: weightedMean(tf.neg(logRatio), weights),
    clipFraction: weightedMean(outside, weights),
  };
}

/**
 * Cross-entropy of the policy with distributions that it is also trained towards, such as those of a search:
 * -mean(sum_a pi(a) log p(a)), over the rows that have one.
 *
 * @param logProbs  [B, K] log p, under the current parameters
 * @param targets   [B, K] pi, 0 where illegal; zeros in rows without one
 * @param weights   [B]
 */
export function policyTargetLoss(logProbs: tf.Tensor2D, targets: tf.Tensor2D, weights: tf.Tensor1D): tf.Scalar {
  checkShapes('policyTargetLoss', { logProbs, targets }, 'B K');
  const crossEntropy = tf.neg(tf.sum(tf.mul(targets, logProbs), 1)) as tf.Tensor1D;
  return weightedMean(crossEntropy, tf.mul(weights, tf.sum(targets, 1)));
}

/** The parts of PPO's options that are built into the update. */
export type LossOptions = Pick<ResolvedPpoOptions, 'valueWeight' | 'valueClip' | 'huberDelta'>;

/** The networks of PPO, and the distribution that the actor's numbers describe. */
export interface PpoModel {
  readonly net: ActorCritic;
  readonly distribution: ActionDistribution;
}

/**
 * surrogate - entropyWeight x entropy + valueWeight x value loss, of a minibatch as {@link ppoUpdate} takes it; with
 * policy targets, + targetWeight x their cross-entropy.
 */
function ppoLoss({ net, distribution }: PpoModel, params: TensorRecord, inputs: TensorRecord, options: LossOptions) {
  const flat = (name: string) => tf.reshape(inputs[name], [-1]) as tf.Tensor1D; // [rows, L] -> [B]
  const weights = flat('weights');
  const mask = inputs['mask'] && tf.reshape(inputs['mask'], [-1, net.actions]); // [B, K], none for a box
  const actions = tf.reshape(inputs['actions'], [-1, ...distribution.action.shape]); // [B, ...]
  const clip = inputs['clip'] as tf.Scalar;
  const weightsOf = (name: string) => (inputs[name] ? tf.mul<tf.Tensor1D>(weights, flat(name)) : weights);

  const numbers = net.policy(params, actorRows(inputs), mask); // [B, P]
  const policy = {
    logProbs: distribution.logProb(numbers, actions),
    oldLogProbs: flat('logProbs'),
    advantages: flat('advantages'),
    weights: weightsOf('actorWeights'),
  };
  const surrogate = clippedSurrogate(policy, clip);
  const entropy = weightedMean(distribution.entropy(numbers, mask), policy.weights);

  const { values } = net.value(params, criticRows(inputs)); // [B]
  const critic = valueLoss(
    { values, oldValues: flat('values'), returns: flat('returns'), weights: weightsOf('criticWeights') },
    { clip: options.valueClip, huberDelta: options.huberDelta },
  );

  const bonus = tf.mul(inputs['entropyWeight'], entropy);
  const loss = tf.add(tf.sub(surrogate, bonus), tf.mul(options.valueWeight, critic)) as tf.Scalar;
  const metrics = { surrogate, entropy, critic, ...policyDiagnostics(policy, clip) };
  if (!inputs['policyTarget']) return { loss, metrics };
  const targets = tf.reshape(inputs['policyTarget'], [-1, net.actions]) as tf.Tensor2D; // [B, K]
  const targetLoss = policyTargetLoss(numbers, targets, weights);
  const whole = tf.add(loss, tf.mul(inputs['targetWeight'], targetLoss)) as tf.Scalar;
  return { loss: whole, metrics: { ...metrics, targetLoss } };
}

/**
 * One gradient step of PPO on a minibatch of B rows (B sequences of L steps where the network is recurrent; then every
 * per-row array is [B, L]).
 *
 * Inputs: `actor/NAME` and, where the critic sees more, `critic/NAME` [B, ...]; `mask` [B, K], none for a box;
 * `actions` int32 [B], of several choices [B, choices], of a box the raw samples [B, w];
 * `logProbs`, `values`, `advantages`, `returns`, `weights` [B]; scalars `learningRate`, `entropyWeight`, `clip`;
 * recurrent also `isFirst` [B, L], `actorState`, `criticState` [B, stateSize]. Where rows teach only one of the two,
 * `actorWeights` and `criticWeights` [B] multiply `weights`. `policyTarget` [B, K], if any, has distributions for the
 * policy (zeros in rows without one), and the scalar `targetWeight` their weight in the loss.
 *
 * One optimiser for actor and critic together.
 */
export function ppoUpdate(
  model: PpoModel,
  optimiser: Optimiser,
  options: LossOptions,
): StepFunction<'params' | 'slots'> {
  return (state, inputs) => {
    const { loss, gradients, metrics } = valueAndGradients(
      (params) => ppoLoss(model, params, inputs, options),
      state.params,
    );
    const learningRate = inputs['learningRate'] as tf.Scalar;
    const { params, slots, gradientNorm } = optimiser.update(gradients, state.slots, state.params, learningRate);
    return { state: { params, slots }, outputs: { loss, gradientNorm, ...metrics } };
  };
}

/** Inputs of {@link tableUpdate}. */
export type UpdateInputs = {
  readonly each: TensorRecord;
  readonly shared: { readonly table: TensorRecord; readonly scalars: TensorRecord };
};

/**
 * The same on a minibatch that is gathered out of the table of all rows.
 *
 * Inputs of each gradient step: `places` int32 [P] in the table, `weights` and `advantages` [P] (or [P, L]); shared:
 * `table/NAME` [R, ...], the rows; `scalars/NAME` [].
 */
export function tableUpdate(update: StepFunction<'params' | 'slots'>): StepFunction<'params' | 'slots', UpdateInputs> {
  return (state, { each, shared }, statics) => {
    const rows = mapColumns(shared.table, (column) => tf.gather(column, each['places'] as tf.Tensor1D));
    const { weights, advantages } = each as Record<'weights' | 'advantages', tf.Tensor>;
    return update(state, { ...rows, ...shared.scalars, weights, advantages }, statics);
  };
}

/**
 * Acting as a function of tensors: inputs `actor/NAME`, `mask` [B, K] and, recurrent, `actorState` [B, stateSize];
 * outputs `policy` [B, P] and `next` [B, stateSize].
 */
export function actForward(net: ActorCritic): StepFunction<'params'> {
  return (state, inputs) => {
    const rows = actorRows(inputs);
    const mask = inputs['mask'] as tf.Tensor2D | undefined;
    const { policy, state: next } = net.act(state.params, rows.inputs, mask, rows.state);
    return { outputs: next ? { policy, next } : { policy } };
  };
}

/**
 * Valuing as a function of tensors: inputs `critic/NAME` and, recurrent, `isFirst` [B, L], `criticState` [B,
 * stateSize]; outputs `values` [B] and `states` [B, L, stateSize].
 */
export function valueForward(net: ActorCritic): StepFunction<'params'> {
  return (state, inputs) => {
    const { values, states } = net.value(state.params, criticRows(inputs));
    return { outputs: states ? { values, states } : { values } };
  };
}

/** The actor's part of a batch. */
function actorRows(inputs: TensorRecord): RecordedRows {
  return { inputs: named(inputs, 'actor/'), ...memory(inputs, 'actorState') };
}

/** The critic's part of a batch: the actor's inputs, unless it has its own. */
function criticRows(inputs: TensorRecord): RecordedRows {
  const own = named(inputs, 'critic/');
  const seen = Object.keys(own).length > 0 ? own : named(inputs, 'actor/');
  return { inputs: seen, ...memory(inputs, 'criticState') };
}

function named(inputs: TensorRecord, prefix: string): TensorRecord {
  const found: TensorRecord = {};
  for (const name in inputs) if (name.startsWith(prefix)) found[name.slice(prefix.length)] = inputs[name];
  return found;
}

function memory(inputs: TensorRecord, name: string): Pick<RecordedRows, 'isFirst' | 'state'> {
  if (!inputs[name]) return {};
  return { isFirst: inputs['isFirst'] as tf.Tensor2D, state: inputs[name] as tf.Tensor2D };
}
