import { checkArgument, checkNumber, checkNumbers, checkShapes, typedArrays } from '@coplay/core';
import { checkTensor, stopGradient, tf, twoHotLoss } from '@coplay/tensor';
import { checkTerms } from './returns';

/** Imagined steps, [...] each, all of one shape. */
export interface PolicyTerms {
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
 * DreamerV3's actor loss (Hafner et al. 2023, eq. 11), REINFORCE with an entropy bonus, step by step:
 * -w (log p(a | s) sg(A) + scale H).
 *
 * @param entropyScale 0 or more; DreamerV3 has 3e-4
 * @returns as the terms
 */
export function policyLoss(terms: PolicyTerms, entropyScale: number | tf.Scalar): tf.Tensor {
  checkTerms('policyLoss', terms);
  const { logProbs, entropies, advantages, weights } = terms;
  checkTensor('policyLoss', 'logProbs', logProbs);
  if (typeof entropyScale === 'number') checkNumber('policyLoss', 'entropyScale', entropyScale);
  else checkTensor('policyLoss', 'entropyScale', entropyScale);
  checkShapes('policyLoss', { entropies, advantages, weights }, logProbs.shape.join(' '));
  const score = tf.mul(logProbs, stopGradient(advantages));
  return tf.neg(tf.mul(stopGradient(weights), tf.add(score, tf.mul(entropies, entropyScale))));
}

/** What {@link criticLoss} reads. */
export interface CriticTerms {
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
 * DreamerV3's critic loss (Hafner et al. 2023, eq. 6 and below), step by step: w (CE(v, sg(R)) + slowScale CE(v,
 * sg(slow v))), the cross entropy of a distribution over bins with a number. Gradients flow into the logits alone.
 *
 * @param bins [bins] their places
 * @returns [...]
 */
export function criticLoss(terms: CriticTerms, bins: Float32Array, slowScale = 1): tf.Tensor {
  checkTerms('criticLoss', terms);
  checkArgument('criticLoss', 'bins', typedArrays('float32'), bins);
  checkNumber('criticLoss', 'slowScale', slowScale, { min: 0 });
  const { logits, returns, slowValues, weights } = terms;
  checkTensor('criticLoss', 'logits', logits);
  checkNumbers('criticLoss', 'bins', bins, { length: logits.shape.at(-1) ?? 1 });
  checkShapes('criticLoss', { returns, slowValues, weights }, logits.shape.slice(0, -1).join(' '));
  const targets = [
    { values: returns, weight: 1 },
    { values: slowValues, weight: slowScale },
  ];
  return tf.mul(stopGradient(weights), twoHotLoss(logits, targets, bins));
}
