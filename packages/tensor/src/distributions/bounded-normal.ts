import * as tf from '@tensorflow/tfjs-core';
import { checkTensor } from '../check-tensor';

/** A normal distribution for each dimension of an action. */
export interface BoundedNormal {
  /** [..., A] in (-1, 1) */
  readonly mean: tf.Tensor;
  /** [..., A] in (0.1, 1) */
  readonly stddev: tf.Tensor;
}

const [LOW, HIGH] = [0.1, 1];

/**
 * DreamerV3's policy over continuous actions: mean tanh(m), standard deviation 0.9 sigmoid(s + 2) + 0.1.
 *
 * @param mean   [..., A] m
 * @param stddev [..., A] s
 */
export function boundedNormal(mean: tf.Tensor, stddev: tf.Tensor): BoundedNormal {
  checkTensor('boundedNormal', 'mean', mean);
  checkTensor('boundedNormal', 'stddev', stddev);
  const share = tf.sigmoid(tf.add(stddev, 2));
  return { mean: tf.tanh(mean), stddev: tf.add(tf.mul(share, HIGH - LOW), LOW) };
}

/**
 * mean + stddev noise. Samples can lie beyond -1 and 1: environments clip.
 *
 * @param noise [..., A] standard normal
 * @returns [..., A]
 */
export function normalSample(normal: BoundedNormal, noise: tf.Tensor): tf.Tensor {
  const { mean, stddev } = checkNormal('normalSample', normal);
  checkTensor('normalSample', 'noise', noise);
  return tf.add(mean, tf.mul(stddev, noise));
}

/**
 * Log-density -((x - mean) / stddev)^2 / 2 - log stddev - log(2 pi) / 2, summed over dimensions.
 *
 * @param x [..., A]
 * @returns [...]
 */
export function normalLogProb(normal: BoundedNormal, x: tf.Tensor): tf.Tensor {
  const { mean, stddev } = checkNormal('normalLogProb', normal);
  checkTensor('normalLogProb', 'x', x);
  const square = tf.square(tf.div(tf.sub(x, mean), stddev));
  return tf.neg(tf.sum(tf.add(tf.add(tf.mul(square, 0.5), tf.log(stddev)), Math.log(2 * Math.PI) / 2), -1));
}

/**
 * Entropy log stddev + log(2 pi e) / 2 in nats, summed over dimensions.
 *
 * @returns [...]
 */
export function normalEntropy(normal: BoundedNormal): tf.Tensor {
  const { stddev } = checkNormal('normalEntropy', normal);
  return tf.sum(tf.add(tf.log(stddev), Math.log(2 * Math.PI * Math.E) / 2), -1);
}

/** Refuses anything but the tensors of a normal distribution. */
export function checkNormal(where: string, normal: BoundedNormal): BoundedNormal {
  const { mean, stddev } = (normal ?? {}) as Partial<BoundedNormal>;
  checkTensor(where, 'normal.mean', mean);
  checkTensor(where, 'normal.stddev', stddev);
  return normal;
}
