import * as tf from '@tensorflow/tfjs-core';
import { checkTensor } from '../check-tensor';

/**
 * symlog(x) = sign(x) ln(1 + |x|) (Hafner et al. 2023, arXiv v2, eq. 9): nearly x around 0, a logarithm far out.
 *
 * @param x [...]
 * @returns [...]
 */
export function symlog<T extends tf.Tensor>(x: T): T {
  checkTensor('symlog', 'x', x);
  return tf.mul(tf.sign(x), tf.log1p(tf.abs(x)));
}

/**
 * symexp(x) = sign(x) (e^|x| - 1), the inverse of {@link symlog}.
 *
 * @param x [...] |x| below 88, where float32 ends
 * @returns [...]
 */
export function symexp<T extends tf.Tensor>(x: T): T {
  checkTensor('symexp', 'x', x);
  return tf.mul(tf.sign(x), tf.expm1(tf.abs(x)));
}
