import { checkOptions } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { type ClipOptions, clip, clipSchema, scaled } from './clip';
import { flatten, unflatten } from './flat';
import { correction, decay, shrink } from './moments';
import { checkGradients, momentSlots, type Optimiser } from './optimiser';

/** Options of {@link laProp}. DreamerV3's optimiser is `laProp({ adaptiveClip: 0.3 })` at a rate of 4e-5, see {@link learningRate}. */
export interface LaPropOptions extends ClipOptions {
  /** Decay of the mean of normalised gradients, in [0, 1); 0.9. */
  readonly beta1?: number;
  /** Decay of the mean of squared gradients, in [0, 1); 0.999. */
  readonly beta2?: number;
  /** Added to the root of the latter, 0 or more; 1e-20: a parameter without gradients stays, all others move at full rate. */
  readonly epsilon?: number;
  /** Decoupled: parameters shrink by learningRate x weightDecay a step; 0 or more; 0. */
  readonly weightDecay?: number;
}

const schema = z.strictObject({
  ...clipSchema,
  beta1: z.number().min(0).lt(1).default(0.9),
  beta2: z.number().min(0).lt(1).default(0.999),
  epsilon: z.number().min(0).default(1e-20),
  weightDecay: z.number().min(0).default(0),
});

/**
 * LaProp (Ziyin et al. 2020) in DreamerV3's form: gradients are normalised first and averaged then, the other way round
 * than in Adam, so that no step is longer than about the rate: v = b2 v + (1 - b2) g^2,
 * m = b1 m + (1 - b1) g / (sqrt(v / (1 - b2^t)) + epsilon), p -= rate m / (1 - b1^t).
 * Slots: firstMoment m [N], secondMoment v [N], step t [].
 */
export function laProp(options: LaPropOptions = {}): Optimiser {
  const { beta1, beta2, epsilon, weightDecay, ...clipping } = checkOptions('laProp', schema, options);
  return {
    init: momentSlots,
    update(gradients, slots, params, learningRate) {
      checkGradients('laProp.update', gradients, params);
      const names = Object.keys(params);
      const clipped = clip(gradients, params, names, clipping);
      const { squares, scale, gradientNorm } = clipped;
      const secondMoment = decay(slots.secondMoment, squares, beta2, scale && tf.square(scale));
      const step = tf.add(slots.step, 1);
      // Numerator and denominator are both multiplied by sqrt(1 - b2^t), which saves a division of vectors.
      const rootCorrection = tf.sqrt(correction(step, beta2));
      const denominator = tf.add(tf.sqrt(secondMoment), tf.mul(rootCorrection, epsilon));
      const normalised = tf.div(tf.mul(scaled(clipped), rootCorrection), denominator);
      const firstMoment = decay(slots.firstMoment, normalised, beta1);
      const change = tf.mul(firstMoment, tf.div(learningRate, correction(step, beta1)));
      const next = tf.sub(shrink(flatten(params, names), learningRate, weightDecay), change) as tf.Tensor1D;
      return { params: unflatten(next, params, names), slots: { firstMoment, secondMoment, step }, gradientNorm };
    },
  };
}
