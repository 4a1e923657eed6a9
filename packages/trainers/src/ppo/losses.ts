import { checkNumber, checkRecord, checkShapes } from '@coplay/core';
import { checkTensor, stopGradient, tf } from '@coplay/tensor';

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
 * Clipped surrogate objective (Schulman et al. 2017, eq. 7): -mean(min(r A, clip(r, 1 - e, 1 + e) A)), r = exp(logProbs - oldLogProbs).
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
  // Where the clipped side is the smaller one, the ratio is out of range and has no gradient through it: none is computed.
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
