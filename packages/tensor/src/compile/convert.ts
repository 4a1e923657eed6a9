import { fail, type NDArray } from '@coplay/core';
import { dtypeOf, inThisRealm } from '@coplay/core/arrays';
import * as tf from '@tensorflow/tfjs-core';
import type { Tree } from './tree';

/** Tensors by name. */
export type TensorRecord = Record<string, tf.Tensor>;

/** Tensors by name, or records of them. */
export type TensorTree = Tree<tf.Tensor>;

/** Whether something is a tensor. */
export function isTensor(x: unknown): x is tf.Tensor {
  return x instanceof tf.Tensor;
}

/** Whether something is an array with a shape. */
export function isArray(x: unknown): x is NDArray {
  return typeof x === 'object' && x !== null && 'data' in x && 'shape' in x && ArrayBuffer.isView(x.data);
}

/**
 * The tensor of an array. int32 stays int32; every other dtype becomes float32 (masks and planes come as uint8 and are
 * computed with as numbers), except uint32, which float32 can't hold.
 */
export function toTensor(where: string, name: string, array: NDArray): tf.Tensor {
  const shape = array.shape as number[];
  const dtype = dtypeOf(array.data);
  if (dtype === 'float32' || dtype === 'int32') {
    return tf.tensor(own(inThisRealm(array.data) as Float32Array | Int32Array), shape, dtype);
  }
  checkDtype(where, name, array);
  return tf.tensor(new Float32Array(array.data), shape, 'float32');
}

/** Refuses arrays that float32 can't hold. */
export function checkDtype(where: string, name: string, array: NDArray): void {
  if (dtypeOf(array.data) === 'uint32') {
    fail(where, `${name} to be int32 or float32`, 'uint32', 'Convert it first.');
  }
}

/** The array of a tensor: float32, int32, or uint8 for booleans. It belongs to the caller. */
export function toArray(tensor: tf.Tensor): NDArray {
  const data = tensor.dataSync() as Float32Array | Int32Array | Uint8Array;
  // A cast to a wider dtype leaves tfjs's data as it was: a float32 tensor may hold an Int32Array.
  const Kind = { float32: Float32Array, int32: Int32Array, bool: Uint8Array }[
    tensor.dtype as 'float32' | 'int32' | 'bool'
  ];
  return { data: data instanceof Kind ? own(data) : Kind.from(data), shape: tensor.shape };
}

/**
 * A copy, unless the backend copies anyway. The cpu backend and tfjs-node keep the very array they're given and may
 * hand out the one they hold, so without this a user's later writes would change a tensor; wasm copies into and out of
 * its heap.
 */
function own<Data extends Float32Array | Int32Array | Uint8Array>(data: Data): Data {
  return tf.getBackend() === 'wasm' ? data : (data.slice() as Data);
}
