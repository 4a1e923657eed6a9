import { fail } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { checkRecord } from '@coplay/core/checks';
import { checkTensor, type TensorRecord, tf } from '@coplay/tensor';
import type { InputShapes } from '../inputs';

/** Refuses inputs that lack one of the shapes, or have one of another shape; leading dimensions may be any. */
export function checkInputs(where: string, shapes: InputShapes, inputs: TensorRecord): void {
  checkRecord(where, 'inputs', inputs);
  for (const [name, shape] of Object.entries(shapes)) {
    checkTensor(where, `inputs.${name}`, inputs[name]);
    const given = inputs[name].shape;
    if (given.length > shape.length && given.slice(-shape.length).join() === shape.join()) continue;
    fail(
      `${where}: inputs.${name}`,
      `the shape [..., ${shape.join(', ')}]`,
      `[${given}]`,
      'Encode it as the network reads it.',
    );
  }
}

/** All inputs end to end, in the order of `shapes`: [B, sum of sizes]. */
export function flattenInputs(shapes: InputShapes, inputs: TensorRecord): tf.Tensor2D {
  const parts = Object.entries(shapes).map(([name, shape]) => {
    const input = inputs[name];
    return shape.length === 1 ? (input as tf.Tensor2D) : (tf.reshape(input, [-1, sizeOf(shape)]) as tf.Tensor2D);
  });
  return parts.length === 1 ? parts[0] : (tf.concat(parts, 1) as tf.Tensor2D);
}
