import { checkOptions, ndarray } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import {
  type CommonOptions,
  checkGradients,
  clipByNorm,
  commonSchema,
  countOf,
  flatten,
  type Optimiser,
  unflatten,
} from './optimiser';

/** Options of {@link rmsProp}. */
export interface RmsPropOptions extends CommonOptions {
  /** Decay of the mean of squared gradients, in [0, 1); 0.99. */
  readonly decay?: number;
  /** Added to its root, 0 or more; 1e-8. */
  readonly epsilon?: number;
}

const schema = z.strictObject({
  ...commonSchema,
  decay: z.number().min(0).lt(1).default(0.99),
  epsilon: z.number().min(0).default(1e-8),
});

/** RMSProp (Tieleman and Hinton 2012) in PyTorch's form: p -= rate g / (sqrt(v) + epsilon). Slots: secondMoment [N]. */
export function rmsProp(options: RmsPropOptions = {}): Optimiser {
  const { decay, epsilon, clipNorm } = checkOptions('rmsProp', schema, options);
  return {
    init: (params) => ({ secondMoment: ndarray(new Float32Array(countOf(params))) }),
    update(gradients, slots, params, learningRate) {
      checkGradients('rmsProp.update', gradients, params);
      const names = Object.keys(params);
      const { gradient, gradientNorm } = clipByNorm(flatten(gradients, names), clipNorm);
      const secondMoment = tf.add(tf.mul(slots.secondMoment, decay), tf.mul(tf.square(gradient), 1 - decay));
      const change = tf.div(tf.mul(gradient, learningRate), tf.add(tf.sqrt(secondMoment), epsilon));
      const next = tf.sub(flatten(params, names), change) as tf.Tensor1D;
      return { params: unflatten(next, params, names), slots: { secondMoment }, gradientNorm };
    },
  };
}
