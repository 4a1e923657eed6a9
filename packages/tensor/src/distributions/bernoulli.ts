import { fail } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { checkTensor } from '../check-tensor';

/**
 * Cross entropy of a Bernoulli distribution with (soft) labels, in nats: -y log s(l) - (1 - y) log(1 - s(l)) =
 * softplus(l) - y l, finite for all logits.
 *
 * @param logits  [...]
 * @param targets [...] in [0, 1]; no gradient is meant to flow into them
 * @returns [...]
 */
export function bernoulliLoss(logits: tf.Tensor, targets: tf.Tensor): tf.Tensor {
  checkTensor('bernoulliLoss', 'logits', logits);
  checkTensor('bernoulliLoss', 'targets', targets);
  if (!tf.util.arraysEqual(logits.shape, targets.shape)) {
    fail('bernoulliLoss', `targets of shape [${logits.shape}]`, `[${targets.shape}]`, 'Give one for each logit.');
  }
  return tf.sub(tf.softplus(logits), tf.mul(targets, logits));
}
