import { fail } from '@coplay/core';
import { checkNumber } from '@coplay/core/checks';
import * as tf from '@tensorflow/tfjs-core';
import { checkTensor } from '../check-tensor';
import { stopGradient } from '../gradients';

/**
 * A categorical distribution mixed with the uniform one, so that no probability is ever near 0 and divergences stay
 * bounded: (1 - share) softmax(logits) + share / K (Hafner et al. 2023, arXiv v2, "unimix").
 *
 * @param logits [..., K]
 * @param share  in [0, 1); DreamerV3's latents have 0.01. 0: plain softmax
 * @returns [..., K] probabilities
 */
export function unimix(logits: tf.Tensor, share: number): tf.Tensor {
  checkLogits('unimix', logits, share);
  const probabilities = tf.softmax(logits, -1);
  if (share === 0) return probabilities;
  const K = logits.shape[logits.rank - 1];
  return tf.add(tf.mul(probabilities, 1 - share), share / K);
}

/**
 * The logarithm of {@link unimix}.
 *
 * @param logits [..., K]
 * @param share  in [0, 1)
 * @returns [..., K] log-probabilities
 */
export function unimixLog(logits: tf.Tensor, share: number): tf.Tensor {
  checkLogits('unimixLog', logits, share);
  return share === 0 ? tf.logSoftmax(logits, -1) : tf.log(unimix(logits, share));
}

/**
 * One-hot samples by inverting the cumulative distribution: category i where u lies between the sums of the first i and
 * i + 1 probabilities. No gradient flows; see {@link straightThrough}.
 *
 * @param probabilities [..., K], sums of 1
 * @param noise         [...] u, uniform in [0, 1), one for each categorical
 * @returns [..., K]
 */
export function oneHotSample(probabilities: tf.Tensor, noise: tf.Tensor): tf.Tensor {
  checkNoise('oneHotSample', probabilities, noise);
  return sampled(stopGradient(probabilities), noise);
}

/**
 * {@link oneHotSample} with the straight-through gradient: the value of the sample, the gradient of the probabilities
 * (Bengio et al. 2013), as of sample + p - stopGradient(p).
 *
 * @param probabilities [..., K], sums of 1; differentiable
 * @param noise         [...] uniform in [0, 1)
 * @returns [..., K]
 */
export function straightThrough(probabilities: tf.Tensor, noise: tf.Tensor): tf.Tensor {
  checkNoise('straightThrough', probabilities, noise);
  const pass = tf.customGrad((p) => ({ value: sampled(p as tf.Tensor, noise), gradFunc: (dy) => dy }));
  return pass(probabilities);
}

/**
 * Sums and differences along the last axis are products with small matrices of 0 and 1, which every machine does fast.
 */
function sampled(probabilities: tf.Tensor, noise: tf.Tensor): tf.Tensor {
  const K = probabilities.shape[probabilities.rank - 1];
  if (K === 1) return tf.onesLike(probabilities);
  const rows = probabilities.size / K;
  const thresholds = tf.matMul(tf.reshape(probabilities, [rows, K]), cumulative(K));
  const passed = tf.cast(tf.greaterEqual(tf.reshape(noise, [rows, 1]), thresholds), 'float32');
  return tf.reshape(tf.add(tf.matMul(passed, steps(K)), first(K)), probabilities.shape);
}

/** [K, K - 1] column j sums the first j + 1. The last sum, which is 1 but for rounding, isn't needed. */
function cumulative(K: number): tf.Tensor2D {
  return tf.tensor2d(
    table(K, K - 1, (i, j) => (i <= j ? 1 : 0)),
    [K, K - 1],
  );
}

/** [K - 1, K] a threshold passed moves the 1 by one place. */
function steps(K: number): tf.Tensor2D {
  return tf.tensor2d(
    table(K - 1, K, (i, j) => (j === i ? -1 : j === i + 1 ? 1 : 0)),
    [K - 1, K],
  );
}

function first(K: number): tf.Tensor1D {
  return tf.tensor1d(table(1, K, (_, j) => (j === 0 ? 1 : 0)));
}

function table(rows: number, columns: number, entry: (i: number, j: number) => number): Float32Array {
  return Float32Array.from({ length: rows * columns }, (_, at) => entry(Math.floor(at / columns), at % columns));
}

function checkLogits(where: string, logits: tf.Tensor, share: number): void {
  checkTensor(where, 'logits', logits);
  checkNumber(where, 'share', share, { min: 0, max: 1 });
}

function checkNoise(where: string, probabilities: tf.Tensor, noise: tf.Tensor): void {
  checkTensor(where, 'probabilities', probabilities);
  checkTensor(where, 'noise', noise);
  const expected = probabilities.shape.slice(0, -1);
  if (tf.util.arraysEqual(noise.shape, expected)) return;
  fail(where, `noise of shape [${expected}]`, `[${noise.shape}]`, 'Give one uniform number for each categorical.');
}
