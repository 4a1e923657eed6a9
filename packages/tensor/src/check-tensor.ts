import { fail, show } from '@coplay/core';
import type * as tf from '@tensorflow/tfjs-core';

/**
 * Refuses anything but a tensor: TensorFlow.js' own errors don't say which of our arguments was wrong.
 *
 * @param where  the function whose argument it is, for the message
 * @param name   the argument's name
 */
export function checkTensor(where: string, name: string, value: unknown): void {
  if (isTensor(value)) return;
  const remedy = value instanceof Promise ? `Await it.` : 'Make one, such as tf.tensor(values).';
  fail(`${where}: ${name}`, 'a tensor', show(value), remedy);
}

/** Known by its parts, since there may be two copies of the library in one process. */
function isTensor(value: unknown): boolean {
  const { shape, dtype, dataId } = (value ?? {}) as Partial<tf.Tensor>;
  return Array.isArray(shape) && typeof dtype === 'string' && dataId !== undefined;
}
