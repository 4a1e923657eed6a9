import { fail } from '@coplay/core';
import { checkTensor, tf } from '@coplay/tensor';

/** Independent normal distributions. */
export interface Gaussian {
  /** [N, D] */
  readonly mean: tf.Tensor2D;
  /** [N, D] logarithm of the variance */
  readonly logVar: tf.Tensor2D;
}

/**
 * Kullback-Leibler divergence KL(q || p) in nats, closed form:
 * 1/2 sum_d (log vp - log vq + (vq + (mq - mp)^2) / vp - 1), v = exp(logVar).
 *
 * @returns [N] never negative
 */
export function gaussianKl(q: Gaussian, p: Gaussian): tf.Tensor1D {
  checkSame('gaussianKl', q, p);
  const squares = tf.square(tf.sub(q.mean, p.mean));
  const ratio = tf.mul(tf.add(tf.exp(q.logVar), squares), tf.exp(tf.neg(p.logVar)));
  return halfSum(tf.sub(tf.add(tf.sub(p.logVar, q.logVar), ratio), 1));
}

/**
 * KL(q || N(0, 1)) in nats (Kingma and Welling 2014, appendix B).
 *
 * @returns [N]
 */
export function standardKl(q: Gaussian): tf.Tensor1D {
  checkGaussian('standardKl', 'q', q);
  const ratio = tf.add(tf.exp(q.logVar), tf.square(q.mean));
  return halfSum(tf.sub(tf.sub(ratio, q.logVar), 1));
}

/**
 * Samples: mean + exp(logVar / 2) noise, differentiable in the distribution.
 *
 * @param noise [N, D] standard normal numbers
 * @returns [N, D]
 */
export function gaussianSample(gaussian: Gaussian, noise: tf.Tensor2D): tf.Tensor2D {
  checkGaussian('gaussianSample', 'gaussian', gaussian);
  checkTensor('gaussianSample', 'noise', noise);
  const { mean, logVar } = gaussian;
  return tf.add(mean, tf.mul(tf.exp(tf.mul(logVar, 0.5)), noise));
}

function halfSum(terms: tf.Tensor): tf.Tensor1D {
  return tf.mul(0.5, tf.sum(terms, -1)) as tf.Tensor1D;
}

function checkGaussian(where: string, name: string, gaussian: Gaussian): void {
  checkTensor(where, `${name}.mean`, gaussian?.mean);
  checkTensor(where, `${name}.logVar`, gaussian.logVar);
}

function checkSame(where: string, q: Gaussian, p: Gaussian): void {
  checkGaussian(where, 'q', q);
  checkGaussian(where, 'p', p);
  if (tf.util.arraysEqual(q.mean.shape, p.mean.shape)) return;
  fail(where, `distributions of one shape [${q.mean.shape}]`, `[${p.mean.shape}]`, 'Give one of p for each of q.');
}
