import type { NamedArrays } from '@coplay/core';
import { fail, sizeOf } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import type { TensorRecord } from '../compile/convert';

/** Two pure functions: the slots to begin with, and one step. */
export interface Optimiser {
  /** The slots for parameters of these shapes. */
  init(params: NamedArrays): NamedArrays;
  /** One step downhill. All tensors are new; none of the arguments is changed. */
  update(
    gradients: TensorRecord,
    slots: TensorRecord,
    params: TensorRecord,
    learningRate: tf.Scalar | number,
  ): OptimiserUpdate;
}

/** What {@link Optimiser.update} returns. */
export interface OptimiserUpdate {
  readonly params: TensorRecord;
  readonly slots: TensorRecord;
  /** [] the Euclidean norm of all gradients together, before clipping */
  readonly gradientNorm: tf.Scalar;
}

/** Options that all optimisers share. */
export interface CommonOptions {
  /** Gradients are scaled down together so that their joint norm is at most this; above 0. Absent: never. */
  readonly clipNorm?: number;
}

export const commonSchema = { clipNorm: z.number().positive().optional() };

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

/** [] the Euclidean norm of a vector whose squares are given. */
export function normOf(squares: tf.Tensor1D): tf.Scalar {
  return tf.sqrt(tf.sum(squares)) as tf.Scalar;
}

/** [] what gradients of this norm are multiplied by: min(1, clipNorm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_ does. */
export function clipScale(gradientNorm: tf.Scalar, clipNorm: number | undefined): tf.Scalar {
  if (clipNorm === undefined) return tf.scalar(1);
  return tf.minimum(tf.div(clipNorm, tf.add(gradientNorm, 1e-6)), 1);
}

/** A flat gradient, clipped, and its norm before that. */
export function clipByNorm(
  gradient: tf.Tensor1D,
  clipNorm: number | undefined,
): { gradient: tf.Tensor1D; gradientNorm: tf.Scalar } {
  const gradientNorm = normOf(tf.square(gradient));
  if (clipNorm === undefined) return { gradient, gradientNorm };
  return { gradient: tf.mul(gradient, clipScale(gradientNorm, clipNorm)), gradientNorm };
}

/** Refuses gradients that don't belong to the parameters. */
export function checkGradients(where: string, gradients: TensorRecord, params: TensorRecord): void {
  const names = Object.keys(params);
  for (const name of names) {
    if (gradients[name] && tf.util.arraysEqual(gradients[name].shape, params[name].shape)) continue;
    const got = gradients[name] ? `[${gradients[name].shape}]` : 'none';
    fail(
      where,
      `a gradient of shape [${params[name].shape}] for ${name}`,
      got,
      'Give what valueAndGradients returned.',
    );
  }
  const extra = Object.keys(gradients).find((name) => !Object.hasOwn(params, name));
  if (extra !== undefined) fail(where, `gradients of ${names.join(', ')} alone`, `also ${extra}`, 'Leave it out.');
}
