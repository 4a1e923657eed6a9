import { tf } from '@coplay/tensor';

const EPSILON = 1e-4;

/**
 * Root mean square normalisation (Zhang and Sennrich 2019), x / sqrt(mean(x^2) + 1e-4) scale, without a shift.
 *
 * @param x     [..., N]
 * @param scale [N], or any shape that spreads to x's
 * @param axes  over which the mean is taken. Default: the last
 * @returns as x
 */
export function rmsNorm<T extends tf.Tensor>(x: T, scale: tf.Tensor, axes: number | number[] = -1): T {
  const meanSquare = tf.mean(tf.square(x), axes, true);
  return tf.mul(tf.mul(x, tf.rsqrt(tf.add(meanSquare, EPSILON))), scale) as T;
}
