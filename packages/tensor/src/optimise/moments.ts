import * as tf from '@tensorflow/tfjs-core';

/**
 * The exponential mean after one more value: beta mean + (1 - beta) scale value.
 *
 * @param mean  [N]
 * @param value [N]
 * @param scale [] absent: 1
 */
export function decay(mean: tf.Tensor, value: tf.Tensor, beta: number, scale?: tf.Tensor): tf.Tensor {
  return tf.add(tf.mul(mean, beta), tf.mul(value, scale ? tf.mul(scale, 1 - beta) : 1 - beta));
}

/**
 * 1 - beta^t, which undoes the bias of an exponential mean of t values towards the 0 that it began with. Computed as
 * 2 h / (1 + h) with h = tanh(-t ln(beta) / 2): in float32, 1 - 0.999 would keep four digits only, this keeps all.
 *
 * @param step [] t, 1 or more
 */
export function correction(step: tf.Tensor, beta: number): tf.Tensor {
  if (beta === 0) return tf.onesLike(step);
  const h = tf.tanh(tf.mul(step, -Math.log(beta) / 2));
  return tf.div(tf.mul(h, 2), tf.add(h, 1));
}

/** Decoupled weight decay (Loshchilov and Hutter 2019): parameters times 1 - learningRate weightDecay. */
export function shrink(params: tf.Tensor1D, learningRate: tf.Scalar | number, weightDecay: number): tf.Tensor1D {
  if (weightDecay === 0) return params;
  return tf.mul(params, tf.sub(1, tf.mul(learningRate, weightDecay)));
}
