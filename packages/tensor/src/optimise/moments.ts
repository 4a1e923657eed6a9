import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { type ClipOptions, clipSchema } from './clip';

/** Options of the optimisers that keep exponential means of gradients and of their squares: Adam, AdamW and LaProp. */
export interface MomentOptions extends ClipOptions {
  /** Decay of the mean of gradients (LaProp: of normalised ones), in [0, 1); 0.9. */
  readonly beta1?: number;
  /** Decay of the mean of squared gradients, in [0, 1); 0.999. */
  readonly beta2?: number;
  /**
   * Added to the root of the latter, 0 or more. Adam and AdamW: 1e-8 (PPO: 1e-5). LaProp: 1e-20, so that a parameter
   * without gradients stays and all others move at full rate.
   */
  readonly epsilon?: number;
  /** Decoupled: parameters shrink by learningRate x weightDecay a step; 0 or more; 0, `adamW` 0.01. */
  readonly weightDecay?: number;
}

/** Checks {@link MomentOptions}; what differs between optimisers is given. */
export function momentSchema({ epsilon, weightDecay = 0 }: { epsilon: number; weightDecay?: number }) {
  return z.strictObject({
    ...clipSchema,
    beta1: z.number().min(0).lt(1).default(0.9),
    beta2: z.number().min(0).lt(1).default(0.999),
    epsilon: z.number().min(0).default(epsilon),
    weightDecay: z.number().min(0).default(weightDecay),
  });
}

/**
 * The exponential mean after one more value: beta mean + (1 - beta) scale value.
 *
 * @param mean  [N]
 * @param value [N]
 * @param scale [] absent: 1
 */
export function decay(mean: tf.Tensor, value: tf.Tensor, beta: number, scale?: tf.Tensor): tf.Tensor {
  return tf.add(tf.mul(mean, beta), tf.mul(value, scale ? tf.mul(scale, 1 - beta) : 1 - beta));
}

/**
 * 1 - beta^t, which undoes the bias of an exponential mean of t values towards the 0 that it began with. Computed as
 * 2 h / (1 + h) with h = tanh(-t ln(beta) / 2): in float32, 1 - 0.999 would keep four digits only, this keeps all.
 *
 * @param step [] t, 1 or more
 */
export function correction(step: tf.Tensor, beta: number): tf.Tensor {
  if (beta === 0) return tf.onesLike(step);
  const h = tf.tanh(tf.mul(step, -Math.log(beta) / 2));
  return tf.div(tf.mul(h, 2), tf.add(h, 1));
}

/** Decoupled weight decay (Loshchilov and Hutter 2019): parameters times 1 - learningRate weightDecay. */
export function shrink(params: tf.Tensor1D, learningRate: tf.Scalar | number, weightDecay: number): tf.Tensor1D {
  if (weightDecay === 0) return params;
  return tf.mul(params, tf.sub(1, tf.mul(learningRate, weightDecay)));
}
