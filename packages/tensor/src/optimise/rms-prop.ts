import { checkOptions } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { type ClipOptions, clip, clipSchema, scaled } from './clip';
import { flatten, unflatten } from './flat';
import { decay as decayed } from './moments';
import { checkUpdate, type Optimiser, zeroSlot } from './optimiser';

/** Options of {@link rmsProp}. */
export interface RmsPropOptions extends ClipOptions {
  /** Decay of the mean of squared gradients, in [0, 1); 0.99. */
  readonly decay?: number;
  /** Added to its root, 0 or more; 1e-8. */
  readonly epsilon?: number;
}

const schema = z.strictObject({
  ...clipSchema,
  decay: z.number().min(0).lt(1).default(0.99),
  epsilon: z.number().min(0).default(1e-8),
});

/**
 * RMSProp (Tieleman and Hinton 2012) in PyTorch's form: p -= rate g / (sqrt(v) + epsilon). Slots: secondMoment v [N].
 */
export function rmsProp(options: RmsPropOptions = {}): Optimiser {
  const { decay, epsilon, ...clipping } = checkOptions('rmsProp', schema, options);
  return {
    init: (params) => ({ secondMoment: zeroSlot(params) }),
    update(gradients, slots, params, learningRate) {
      checkUpdate('rmsProp.update', { gradients, slots, params, learningRate }, ['secondMoment']);
      const names = Object.keys(params);
      const clipped = clip(gradients, params, names, clipping);
      const { squares, scale, gradientNorm } = clipped;
      const secondMoment = decayed(slots.secondMoment, squares, decay, scale && tf.square(scale));
      const change = tf.div(tf.mul(scaled(clipped), learningRate), tf.add(tf.sqrt(secondMoment), epsilon));
      const next = tf.sub(flatten(params, names), change) as tf.Tensor1D;
      return { params: unflatten(next, params, names), slots: { secondMoment }, gradientNorm };
    },
  };
}
