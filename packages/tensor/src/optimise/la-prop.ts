import { checkOptions } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { clip, scaled } from './clip';
import { flatten, unflatten } from './flat';
import { correction, decay, type MomentOptions, momentSchema, shrink } from './moments';
import { checkUpdate, momentSlots, type Optimiser } from './optimiser';

/**
 * Options of {@link laProp}. DreamerV3's optimiser is `laProp({ adaptiveClip: 0.3 })` at a rate of 4e-5, see
 * {@link learningRate}.
 */
export type LaPropOptions = MomentOptions;

const schema = momentSchema({ epsilon: 1e-20 });

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
      checkUpdate(
        'laProp.update',
        { gradients, slots, params, learningRate },
        ['firstMoment', 'secondMoment'],
        ['step'],
      );
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
