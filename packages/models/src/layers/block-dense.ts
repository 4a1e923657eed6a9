import { checkShapes, fail } from '@coplay/core';
import { checkCount } from '@coplay/core/checks';
import { type TensorRecord, tf } from '@coplay/tensor';
import type { ParamSpec } from './param-specs';
import { paramOf } from './params';

/**
 * A linear layer whose kernel is block-diagonal: block i maps slice i of the input to slice i of the output. The
 * kernel's start counts the whole input as fan-in, not one block's, as DreamerV3's does.
 *
 * @param blocks divides both sizes
 * @returns kernel [blocks, in / blocks, out / blocks] and bias [out]
 * @throws CoplayError if it doesn't divide them
 */
export function blockDenseSpecs(
  inputSize: number,
  outputSize: number,
  blocks: number,
): Record<'kernel' | 'bias', ParamSpec> {
  checkCount('blockDenseSpecs', 'inputSize', inputSize, 1);
  checkCount('blockDenseSpecs', 'outputSize', outputSize, 1);
  checkCount('blockDenseSpecs', 'blocks', blocks, 1);
  if (inputSize % blocks !== 0 || outputSize % blocks !== 0) {
    const remedy = 'Choose a number of blocks that divides both.';
    fail('blockDenseSpecs', `sizes that ${blocks} blocks divide`, `${inputSize} to ${outputSize}`, remedy);
  }
  return {
    kernel: { shape: [blocks, inputSize / blocks, outputSize / blocks], start: { fanIn: inputSize, scale: 1 } },
    bias: { shape: [outputSize], start: 0 },
  };
}

/**
 * x W + b with the block-diagonal W of {@link blockDenseSpecs}.
 *
 * @param x [B, in]
 * @returns [B, out]
 */
export function blockDense(params: TensorRecord, x: tf.Tensor2D): tf.Tensor2D {
  checkShapes('blockDense', { x }, 'B in');
  const { shape } = paramOf('blockDense', params, 'kernel', [-1, -1, -1]);
  const [blocks, , width] = shape;
  const kernel = paramOf<tf.Tensor3D>('blockDense', params, 'kernel', [blocks, x.shape[1] / blocks, width]);
  const product = tf.matMul(toBlocks(x, blocks), kernel) as tf.Tensor3D; // [g, B, out / g]
  return tf.add(fromBlocks(product), paramOf<tf.Tensor1D>('blockDense', params, 'bias', [blocks * width]));
}

/** [B, N] to [g, B, N / g]: slice i of every row becomes a matrix of its own. */
export function toBlocks(x: tf.Tensor2D, blocks: number): tf.Tensor3D {
  checkShapes('toBlocks', { x }, 'B N');
  checkCount('toBlocks', 'blocks', blocks, 1);
  const [rows, size] = x.shape;
  if (size % blocks !== 0) fail('toBlocks: blocks', `a divisor of ${size}`, `${blocks}`, 'Choose one that divides it.');
  return tf.transpose(tf.reshape(x, [rows, blocks, size / blocks]), [1, 0, 2]) as tf.Tensor3D;
}

/** The reverse of {@link toBlocks}. */
export function fromBlocks(x: tf.Tensor3D): tf.Tensor2D {
  checkShapes('fromBlocks', { x }, 'g B S');
  const [blocks, rows, size] = x.shape;
  return tf.reshape(tf.transpose(x, [1, 0, 2]), [rows, blocks * size]);
}
