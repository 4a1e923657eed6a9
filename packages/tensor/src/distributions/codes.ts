import { fail } from '@coplay/core';
import { checkCount } from '@coplay/core/checks';
import * as tf from '@tensorflow/tfjs-core';
import { checkTensor } from '../check-tensor';

/**
 * Cross entropy of one-hot codes that lie behind one another, in nats: the sum over codes of -y log softmax(l), finite
 * for all logits and never below 0. A code of zeros alone ("none") adds nothing.
 *
 * @param logits  [N, n classes]
 * @param targets [N, n classes] zeros, and at most one 1 in each code; no gradient is meant to flow into them
 * @param classes numbers of a code, at least 1
 * @returns [N]
 */
export function codesLoss(logits: tf.Tensor, targets: tf.Tensor, classes: number): tf.Tensor1D {
  checkTensor('codesLoss', 'logits', logits);
  checkTensor('codesLoss', 'targets', targets);
  checkCount('codesLoss', 'classes', classes, 1);
  const { shape } = logits;
  if (shape.length !== 2 || shape[1] % classes !== 0) {
    fail('codesLoss', `logits [N, n ${classes}]`, `[${shape}]`, 'Flatten the codes of each row.');
  }
  if (!tf.util.arraysEqual(shape, targets.shape)) {
    fail('codesLoss', `targets of shape [${shape}]`, `[${targets.shape}]`, 'Give one for each logit.');
  }
  const logProbs = tf.reshape(tf.logSoftmax(tf.reshape(logits, [-1, classes])), shape);
  return tf.neg(tf.sum(tf.mul(targets, logProbs), 1)) as tf.Tensor1D;
}
