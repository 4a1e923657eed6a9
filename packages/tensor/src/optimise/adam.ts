import { checkOptions, ndarray } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import {
  type CommonOptions,
  checkGradients,
  clipScale,
  commonSchema,
  countOf,
  flatten,
  normOf,
  type Optimiser,
  unflatten,
} from './optimiser';

/** Options of {@link adam}. */
export interface AdamOptions extends CommonOptions {
  /** Decay of the mean of gradients, in [0, 1); 0.9. */
  readonly beta1?: number;
  /** Decay of the mean of squared gradients, in [0, 1); 0.999. */
  readonly beta2?: number;
  /** Added to the root of the latter, 0 or more; 1e-8 (PPO: 1e-5). */
  readonly epsilon?: number;
  /** Decoupled: parameters shrink by learningRate x weightDecay a step (AdamW); 0 or more; 0. */
  readonly weightDecay?: number;
}

const schema = z.strictObject({
  ...commonSchema,
  beta1: z.number().min(0).lt(1).default(0.9),
  beta2: z.number().min(0).lt(1).default(0.999),
  epsilon: z.number().min(0).default(1e-8),
  weightDecay: z.number().min(0).default(0),
});

/**
 * Adam (Kingma and Ba 2015) in PyTorch's form: p -= rate / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + epsilon), and
 * AdamW's decoupled weight decay (Loshchilov and Hutter 2019). Slots: firstMoment [N], secondMoment [N], step [].
 */
export function adam(options: AdamOptions = {}): Optimiser {
  const { beta1, beta2, epsilon, weightDecay, clipNorm } = checkOptions('adam', schema, options);
  return {
    init(params) {
      const size = countOf(params);
      return {
        firstMoment: ndarray(new Float32Array(size)),
        secondMoment: ndarray(new Float32Array(size)),
        step: ndarray(new Float32Array(1), []),
      };
    },
    update(gradients, slots, params, learningRate) {
      checkGradients('adam.update', gradients, params);
      const names = Object.keys(params);
      const gradient = flatten(gradients, names);
      const squares = tf.square(gradient);
      const gradientNorm = normOf(squares);
      const scale = clipScale(gradientNorm, clipNorm);
      const firstMoment = decay(slots.firstMoment, gradient, beta1, scale);
      const secondMoment = decay(slots.secondMoment, squares, beta2, tf.square(scale));
      const step = tf.add(slots.step, 1);
      // Numerator and denominator are both multiplied by sqrt(1 - b2^t), which saves a division of vectors.
      const rootCorrection = tf.sqrt(correction(step, beta2));
      const rate = tf.div(tf.mul(learningRate, rootCorrection), correction(step, beta1));
      const denominator = tf.add(tf.sqrt(secondMoment), tf.mul(rootCorrection, epsilon));
      const change = tf.div(tf.mul(firstMoment, rate), denominator);
      const next = tf.sub(shrink(flatten(params, names), learningRate, weightDecay), change) as tf.Tensor1D;
      return { params: unflatten(next, params, names), slots: { firstMoment, secondMoment, step }, gradientNorm };
    },
  };
}

/** The exponential mean after one more value, which is multiplied by `scale`. */
function decay(mean: tf.Tensor, value: tf.Tensor, beta: number, scale: tf.Tensor): tf.Tensor {
  return tf.add(tf.mul(mean, beta), tf.mul(value, tf.mul(scale, 1 - beta)));
}

/**
 * 1 - beta^t, as 2 h / (1 + h) with h = tanh(-t ln(beta) / 2): in float32, 1 - 0.999 would keep four digits only,
 * this keeps all.
 */
function correction(step: tf.Tensor, beta: number): tf.Tensor {
  if (beta === 0) return tf.onesLike(step);
  const h = tf.tanh(tf.mul(step, -Math.log(beta) / 2));
  return tf.div(tf.mul(h, 2), tf.add(h, 1));
}

function shrink(params: tf.Tensor1D, learningRate: tf.Scalar | number, weightDecay: number): tf.Tensor1D {
  if (weightDecay === 0) return params;
  return tf.mul(params, tf.sub(1, tf.mul(learningRate, weightDecay)));
}
