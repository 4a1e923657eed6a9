import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import type { TensorRecord } from '../compile/convert';
import { flatten } from './flat';

/**
 * How gradients are made smaller before they're used; options of every optimiser. With both, `adaptiveClip` comes
 * first.
 */
export interface ClipOptions {
  /** Gradients are scaled down together so that their joint norm is at most this; above 0. Absent: never. */
  readonly clipNorm?: number;
  /**
   * Each array's gradient is scaled down so that its norm is at most this share of the array's own norm, which counts
   * as 0.001 at least: adaptive gradient clipping (Brock et al. 2021, eq. 3) over whole arrays, as DreamerV3 does with
   * 0.3; above 0. Absent: never.
   */
  readonly adaptiveClip?: number;
}

export const clipSchema = {
  clipNorm: z.number().positive().optional(),
  adaptiveClip: z.number().positive().optional(),
};

/** {@link ClipOptions} after they were checked. */
export interface Clipping {
  readonly clipNorm?: number | undefined;
  readonly adaptiveClip?: number | undefined;
}

/** A gradient as one vector, still to be multiplied by `scale`. */
export interface Clipped {
  /** [N] */
  readonly gradient: tf.Tensor1D;
  /** [N] of the above */
  readonly squares: tf.Tensor1D;
  /** [] absent: 1 */
  readonly scale?: tf.Scalar;
  /** [] the Euclidean norm of all gradients together, before clipping */
  readonly gradientNorm: tf.Scalar;
}

/** Clips gradients; the multiplication by one scale for all is left to the caller, who multiplies anyway. */
export function clip(
  gradients: TensorRecord,
  params: TensorRecord,
  names: readonly string[],
  { clipNorm, adaptiveClip }: Clipping,
): Clipped {
  const adapted = adaptiveClip === undefined ? undefined : clipEach(gradients, params, names, adaptiveClip);
  const gradient = adapted?.gradient ?? flatten(gradients, names);
  const squares = tf.square(gradient);
  const norm = tf.sqrt(tf.sum(squares)) as tf.Scalar;
  const gradientNorm = adapted?.gradientNorm ?? norm;
  if (clipNorm === undefined) return { gradient, squares, gradientNorm };
  // As torch.nn.utils.clip_grad_norm_ does: min(1, clipNorm / (norm + 1e-6)).
  const scale = tf.minimum(tf.div(clipNorm, tf.add(norm, 1e-6)), 1) as tf.Scalar;
  return { gradient, squares, scale, gradientNorm };
}

/** [N] the clipped gradient with its scale multiplied in. */
export function scaled({ gradient, scale }: Clipped): tf.Tensor1D {
  return scale ? tf.mul(gradient, scale) : gradient;
}

/** Below this, the norm of an array counts as this, so that arrays that begin with zeros can move. */
const MIN_NORM = 1e-3;

/** Adaptive gradient clipping: g min(1, share max(|w|, 0.001) / |g|) for each array. */
function clipEach(gradients: TensorRecord, params: TensorRecord, names: readonly string[], share: number) {
  const squares = squaresOf(gradients, names);
  const limits = tf.mul(tf.maximum(tf.sqrt(squaresOf(params, names)), MIN_NORM), share);
  const scales = tf.split(tf.minimum(tf.div(limits, tf.sqrt(squares)), 1), names.length); // a zero gradient: 1
  const parts = names.map((name, i) => tf.mul(tf.reshape(gradients[name], [-1]), scales[i]) as tf.Tensor1D);
  return { gradient: tf.concat1d(parts), gradientNorm: tf.sqrt(tf.sum(squares)) as tf.Scalar };
}

/** [names] the sum of squares of each array. */
function squaresOf(record: TensorRecord, names: readonly string[]): tf.Tensor1D {
  return tf.concat1d(names.map((name) => tf.sum(tf.square(tf.reshape(record[name], [-1])), 0, true) as tf.Tensor1D));
}
