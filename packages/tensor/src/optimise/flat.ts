import type { NamedArrays } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import * as tf from '@tensorflow/tfjs-core';
import type { TensorRecord } from '../compile/convert';

/** One vector [N]: all arrays of the record one after another, in the order of `names`. */
export function flatten(record: TensorRecord, names: readonly string[]): tf.Tensor1D {
  return tf.concat1d(names.map((name) => tf.reshape(record[name], [-1]) as tf.Tensor1D));
}

/** The reverse of {@link flatten}, with the shapes of `like`. */
export function unflatten(vector: tf.Tensor1D, like: TensorRecord, names: readonly string[]): TensorRecord {
  const parts = tf.split(
    vector,
    names.map((name) => like[name].size),
  );
  return Object.fromEntries(names.map((name, i) => [name, tf.reshape(parts[i], like[name].shape)]));
}

/** The number of parameters N, for slots of shape [N]. */
export function countOf(params: NamedArrays): number {
  return Object.values(params).reduce((sum, { shape }) => sum + sizeOf(shape), 0);
}
