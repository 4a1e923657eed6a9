import { within } from '@coplay/models';
import {
  categoricalEntropy,
  maskedLogProbs,
  type Optimiser,
  type StepFunction,
  type TensorRecord,
  tf,
  valueAndGradients,
} from '@coplay/tensor';
import type { PolicyValueNet } from './net';

/**
 * Inputs of one minibatch: `in/NAME` [B, ...], `mask` [B, K], `policy` [B, K], `returns` [B]; shared: `learningRate`
 * [].
 */
export type HopUpdateInputs = {
  readonly each: TensorRecord;
  readonly shared: TensorRecord;
};

/** Prior and value of B rows: inputs `in/NAME` [B, ...]; outputs `logits` [B, K], `values` [B]. */
export function hopAct(net: PolicyValueNet): StepFunction<'params'> {
  return (state, inputs) => ({ outputs: net.apply(state.params, within(inputs, 'in')) });
}

/**
 * HOP's loss (Huang et al. 2024): cross-entropy of the policy with the search's policy, and the value's squared error,
 *
 *   L = mean(-sum_a pi(a) log p(a)) + w mean((v - z)^2)
 *
 * @param policy   [B, K] pi, 0 where illegal
 * @param returns  [B] z
 * @param weight   w
 */
export function hopLoss(
  net: PolicyValueNet,
  params: TensorRecord,
  inputs: TensorRecord,
  weight: number,
): { loss: tf.Scalar; metrics: Record<'policyLoss' | 'valueLoss' | 'entropy' | 'targetEntropy', tf.Scalar> } {
  const { logits, values } = net.apply(params, within(inputs, 'in'));
  const mask = inputs['mask'] as tf.Tensor2D;
  const logProbs = maskedLogProbs(logits, mask) as tf.Tensor2D;
  const target = inputs['policy'] as tf.Tensor2D;
  const policyLoss = tf.neg(tf.mean(tf.sum(tf.mul(target, logProbs), 1))) as tf.Scalar;
  const valueLoss = tf.mean(tf.squaredDifference(values, inputs['returns'])) as tf.Scalar;
  const logTarget = tf.log(tf.maximum(target, 1e-12)); // 0 log 0 = 0
  return {
    loss: tf.add(policyLoss, tf.mul(weight, valueLoss)) as tf.Scalar,
    metrics: {
      policyLoss,
      valueLoss,
      entropy: tf.mean(categoricalEntropy(logProbs, mask)) as tf.Scalar,
      targetEntropy: tf.neg(tf.mean(tf.sum(tf.mul(target, logTarget), 1))) as tf.Scalar,
    },
  };
}

/** One gradient step on a minibatch: {@link hopLoss}. */
export function hopUpdate(
  net: PolicyValueNet,
  optimiser: Optimiser,
  weight: number,
): StepFunction<'params' | 'slots', HopUpdateInputs> {
  return (state, { each, shared }) => {
    const { loss, gradients, metrics } = valueAndGradients(
      (params) => hopLoss(net, params, each, weight),
      state.params,
    );
    const learningRate = shared['learningRate'] as tf.Scalar;
    const { params, slots, gradientNorm } = optimiser.update(gradients, state.slots, state.params, learningRate);
    return { state: { params, slots }, outputs: { loss, gradientNorm, ...metrics } };
  };
}
