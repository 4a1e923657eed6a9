import { fail, show } from '@coplay/core';
import { checkTensor, tf } from '@coplay/tensor';
import type { Activation } from './layer';

const functions: Record<Activation, <T extends tf.Tensor>(x: T) => T> = {
  tanh: (x) => tf.tanh(x),
  relu: (x) => tf.relu(x),
  // x * sigmoid(x) (Hendrycks and Gimpel 2016; Elfwing et al. 2018)
  silu: (x) => tf.mul(x, tf.sigmoid(x)),
  linear: (x) => x,
};

/** The function of an activation's name. */
export function activate<T extends tf.Tensor>(activation: Activation, x: T): T {
  if (!Object.hasOwn(functions, activation)) {
    fail('activate: activation', Object.keys(functions).join(' or '), show(activation), 'Choose one of them.');
  }
  checkTensor('activate', 'x', x);
  return functions[activation](x);
}
