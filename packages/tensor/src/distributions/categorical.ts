import { fail } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { checkTensor } from '../check-tensor';
import { stopGradient } from '../gradients';

/**
 * Added to the logits of illegal actions: exp of it is 0, but unlike -infinity it stays finite in products and
 * gradients.
 */
const ILLEGAL = -1e9;

/** Below every legal logit. */
const LOWEST = -3.4e38;

/** Legal logits further below the largest one count as this far: their differences might be infinite. */
const FURTHEST = -1e30;

/**
 * Log-probabilities of a categorical distribution over the legal actions alone. The largest legal logit is moved to 0
 * first, so that the penalty of illegal actions is far below it however low it was.
 *
 * @param logits  [..., K] any finite numbers; logits of illegal actions have no influence and get no gradient
 * @param mask    [..., K] float32, 1 where legal, 0 where not
 * @returns [..., K]; about -1e9 (probability exactly 0) where illegal; uniform where no action is legal
 */
export function maskedLogProbs(logits: tf.Tensor, mask: tf.Tensor): tf.Tensor {
  checkSame('maskedLogProbs', 'mask', logits, mask);
  const legal = tf.mul(logits, mask);
  const isIllegal = tf.sub(1, mask);
  const largest = stopGradient(tf.max(tf.add(legal, tf.mul(isIllegal, LOWEST)), -1, true));
  const moved = tf.clipByValue(tf.sub(legal, tf.mul(largest, mask)), FURTHEST, Infinity);
  return tf.logSoftmax(tf.add(moved, tf.mul(isIllegal, ILLEGAL)), -1);
}

/**
 * Entropy -sum p log p in nats over the legal actions; 0 where one action is legal, or none.
 *
 * @param logProbs  [..., K] of {@link maskedLogProbs}
 * @param mask      [..., K] as given there
 * @returns [...]
 */
export function categoricalEntropy(logProbs: tf.Tensor, mask: tf.Tensor): tf.Tensor {
  checkSame('categoricalEntropy', 'mask', logProbs, mask);
  const legalLogProbs = tf.mul(logProbs, mask);
  return tf.neg(tf.sum(tf.mul(tf.exp(logProbs), legalLogProbs), -1));
}

/**
 * Log-probability of the actions taken, by a product with their one-hot code (the gradient of a gather is missing on
 * wasm).
 *
 * @param logProbs  [..., K]
 * @param actions   [...] int32 in 0..K-1; -1 ("none") gives 0
 * @returns [...]
 */
export function logProbOf(logProbs: tf.Tensor, actions: tf.Tensor): tf.Tensor {
  checkTensor('logProbOf', 'logProbs', logProbs);
  checkTensor('logProbOf', 'actions', actions);
  const rows = logProbs.shape.slice(0, -1);
  if (actions.dtype !== 'int32' || !tf.util.arraysEqual(actions.shape, rows)) {
    fail(
      'logProbOf',
      `actions of shape [${rows}] and dtype int32`,
      `[${actions.shape}] ${actions.dtype}`,
      'Give one action per row.',
    );
  }
  const oneHot = oneHotOf(actions, logProbs.shape[logProbs.rank - 1]);
  return tf.sum(tf.mul(logProbs, tf.cast(oneHot, 'float32')), -1);
}

/** [..., K] booleans; tf.oneHot refuses a single action. */
function oneHotOf(actions: tf.Tensor, K: number): tf.Tensor {
  return tf.equal(tf.expandDims(actions, -1), tf.range(0, K, 1, 'int32'));
}

/**
 * Kullback-Leibler divergence sum p (log p - log q) in nats. Where both have the same mask, illegal actions add
 * nothing.
 *
 * @param logP  [..., K]
 * @param logQ  [..., K]
 * @returns [...]
 */
export function categoricalKl(logP: tf.Tensor, logQ: tf.Tensor): tf.Tensor {
  checkSame('categoricalKl', 'logQ', logP, logQ);
  return tf.sum(tf.mul(tf.exp(logP), tf.sub(logP, logQ)), -1);
}

function checkSame(where: string, name: string, first: tf.Tensor, second: tf.Tensor): void {
  checkTensor(where, name === 'logQ' ? 'logP' : where === 'maskedLogProbs' ? 'logits' : 'logProbs', first);
  checkTensor(where, name, second);
  if (tf.util.arraysEqual(first.shape, second.shape)) return;
  fail(where, `${name} of shape [${first.shape}]`, `[${second.shape}]`, `Give ${name} one entry per action.`);
}
