import { dtypeOf, fail, type NDArray } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';

/** Tensors by name. Nested names are joined by `/`. */
export type TensorRecord = Record<string, tf.Tensor>;

/**
 * The tensor of an array. int32 stays int32; every other dtype becomes float32 (masks and planes come as uint8 and are
 * computed with as numbers), except uint32, which float32 can't hold.
 */
export function toTensor(where: string, name: string, array: NDArray): tf.Tensor {
  const shape = array.shape as number[];
  if (array.data instanceof Float32Array) return tf.tensor(own(array.data), shape, 'float32');
  if (array.data instanceof Int32Array) return tf.tensor(own(array.data), shape, 'int32');
  const dtype = dtypeOf(array.data);
  if (dtype === 'uint32') fail(where, `${name} to be int32 or float32`, 'uint32', 'Convert it first.');
  return tf.tensor(new Float32Array(array.data), shape, 'float32');
}

/** The array of a tensor: float32, int32, or uint8 for booleans. It belongs to the caller. */
export function toArray(tensor: tf.Tensor): NDArray {
  return { data: own(tensor.dataSync() as Float32Array | Int32Array | Uint8Array), shape: tensor.shape };
}

/**
 * A copy, unless the backend copies anyway. The cpu backend and tfjs-node keep the very array they're given and may hand
 * out the one they hold, so without this a user's later writes would change a tensor; wasm copies into and out of its heap.
 */
function own<Data extends Float32Array | Int32Array | Uint8Array>(data: Data): Data {
  return tf.getBackend() === 'wasm' ? data : (data.slice() as Data);
}
