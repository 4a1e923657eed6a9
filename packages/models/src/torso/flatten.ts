import { sizeOf } from '@coplay/core';
import { type TensorRecord, tf } from '@coplay/tensor';
import type { InputShapes } from '../inputs';

/** All inputs end to end, in the order of `shapes`: [B, sum of sizes]. */
export function flattenInputs(shapes: InputShapes, inputs: TensorRecord): tf.Tensor2D {
  const parts = Object.entries(shapes).map(([name, shape]) => {
    const input = inputs[name];
    return shape.length === 1 ? (input as tf.Tensor2D) : (tf.reshape(input, [-1, sizeOf(shape)]) as tf.Tensor2D);
  });
  return parts.length === 1 ? parts[0] : (tf.concat(parts, 1) as tf.Tensor2D);
}
