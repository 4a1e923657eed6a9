import { fail } from '@coplay/core';
import { checkNumber, checkNumbers } from '@coplay/core/checks';
import { checkTensor, tf } from '@coplay/tensor';

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
  checkNorm('rmsNorm', x, scale, axes);
  return normalise(x, scale, axes) as T;
}

/** Refuses what {@link rmsNorm} can't use, in the name of the function that was called. */
export function checkNorm(where: string, x: tf.Tensor, scale: tf.Tensor, axes: number | number[] = -1): void {
  checkTensor(where, 'x', x);
  checkTensor(where, 'scale', scale);
  const missing = x.shape.length - scale.shape.length;
  if (missing < 0 || scale.shape.some((size, i) => size !== 1 && size !== x.shape[missing + i])) {
    fail(`${where}: scale`, `a shape that spreads to [${x.shape}]`, `[${scale.shape}]`, 'Give one number per feature.');
  }
  const [min, max] = [-x.shape.length, x.shape.length - 1];
  if (!Array.isArray(axes)) checkNumber(where, 'axes', axes, { min, max, whole: true });
  else checkNumbers(where, 'axes', axes, { min, max, whole: true });
}

/**
 * With n = x / rms and g = dy scale, the gradient of x is (g - n mean(g n)) / rms: shorter than that of the single
 * steps. The scale's gradient is dy n, added up where the scale was repeated.
 */
function normalise(input: tf.Tensor, factor: tf.Tensor, axes: number | number[]): tf.Tensor {
  const norm = tf.customGrad((...given) => {
    const [x, scale, save] = given as unknown as [tf.Tensor, tf.Tensor, tf.GradSaveFunc];
    const inverse = tf.rsqrt(tf.add(tf.mean(tf.square(x), axes, true), EPSILON));
    const normal = tf.mul(x, inverse);
    save([normal, inverse, scale]);
    return {
      value: tf.mul(normal, scale),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const [n, r, s] = saved;
        const products = tf.mul(dy, n);
        const projection = tf.mean(tf.mul(products, s), axes, true);
        return [tf.mul(tf.sub(tf.mul(dy, s), tf.mul(n, projection)), r), spreadSum(products, s.shape)];
      },
    };
  });
  return norm(input, factor);
}

/** The sum over all axes along which a value of this shape was repeated. */
function spreadSum(x: tf.Tensor, shape: number[]): tf.Tensor {
  return tf.reshape(tf.sum(x, tf.broadcast_util.getReductionAxes(shape, x.shape)), shape);
}
