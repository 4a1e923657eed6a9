import { checkOptions, fail } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { type ClipOptions, clip, clipSchema, scaled } from './clip';
import { flatten, unflatten } from './flat';
import { checkUpdate, type Optimiser, zeroSlot } from './optimiser';

/** Options of {@link sgd}. */
export interface SgdOptions extends ClipOptions {
  /** Share of the last change that's repeated, in [0, 1); 0. */
  readonly momentum?: number;
  /** Nesterov's form: the gradient counts once more, as if taken one change ahead; needs momentum; false. */
  readonly nesterov?: boolean;
}

const schema = z.strictObject({
  ...clipSchema,
  momentum: z.number().min(0).lt(1).default(0),
  nesterov: z.boolean().default(false),
});

/**
 * Gradient descent in PyTorch's form: b = momentum b + g; p -= rate b, or with Nesterov's momentum (Sutskever et al.
 * 2013) p -= rate (g + momentum b). Slots: velocity b [N] with momentum, else none.
 */
export function sgd(options: SgdOptions = {}): Optimiser {
  const { momentum, nesterov, ...clipping } = checkOptions('sgd', schema, options);
  if (nesterov && momentum === 0) fail('sgd', 'momentum with nesterov', '0', 'Give momentum, such as 0.9.');
  return {
    init(params) {
      const velocity = zeroSlot(params);
      return momentum === 0 ? {} : { velocity };
    },
    update(gradients, slots, params, learningRate) {
      checkUpdate('sgd.update', { gradients, slots, params, learningRate }, momentum === 0 ? [] : ['velocity']);
      const names = Object.keys(params);
      const clipped = clip(gradients, params, names, clipping);
      const gradient = scaled(clipped);
      const velocity = momentum === 0 ? gradient : tf.add(tf.mul(slots.velocity, momentum), gradient);
      const change = nesterov ? tf.add(gradient, tf.mul(velocity, momentum)) : velocity;
      const next = tf.sub(flatten(params, names), tf.mul(change, learningRate)) as tf.Tensor1D;
      return {
        params: unflatten(next, params, names),
        slots: momentum === 0 ? {} : { velocity },
        gradientNorm: clipped.gradientNorm,
      };
    },
  };
}
