import { checkOptions } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import type { z } from 'zod';
import { clip } from './clip';
import { flatten, unflatten } from './flat';
import { correction, decay, type MomentOptions, momentSchema, shrink } from './moments';
import { checkUpdate, momentSlots, type Optimiser } from './optimiser';

/** Options of {@link adam} and {@link adamW}. */
export type AdamOptions = MomentOptions;

const schema = momentSchema({ epsilon: 1e-8 });
const schemaW = momentSchema({ epsilon: 1e-8, weightDecay: 0.01 });

/**
 * Adam (Kingma and Ba 2015) in PyTorch's form: p -= rate / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + epsilon).
 * Slots: firstMoment m [N], secondMoment v [N], step t [].
 */
export function adam(options: AdamOptions = {}): Optimiser {
  return build('adam', checkOptions('adam', schema, options));
}

/**
 * Adam with decoupled weight decay (Loshchilov and Hutter 2019), as torch.optim.AdamW: p shrinks by rate x weightDecay,
 * then {@link adam}'s step. The decay acts on every parameter, biases included.
 */
export function adamW(options: AdamOptions = {}): Optimiser {
  return build('adamW', checkOptions('adamW', schemaW, options));
}

function build(name: string, options: z.infer<typeof schema>): Optimiser {
  const { beta1, beta2, epsilon, weightDecay, ...clipping } = options;
  return {
    init: momentSlots,
    update(gradients, slots, params, learningRate) {
      checkUpdate(
        `${name}.update`,
        { gradients, slots, params, learningRate },
        ['firstMoment', 'secondMoment'],
        ['step'],
      );
      const names = Object.keys(params);
      const { gradient, squares, scale, gradientNorm } = clip(gradients, params, names, clipping);
      const firstMoment = decay(slots.firstMoment, gradient, beta1, scale);
      const secondMoment = decay(slots.secondMoment, squares, beta2, scale && tf.square(scale));
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
