import { checkOptions, type NamedArrays, ndarray } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import type { TensorRecord } from '../compile/convert';
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

/** Options of {@link sgd}. */
export interface SgdOptions extends CommonOptions {
  /** Share of the last change that's repeated, in [0, 1); 0. */
  readonly momentum?: number;
}

const schema = z.strictObject({ ...commonSchema, momentum: z.number().min(0).lt(1).default(0) });

/** Gradient descent, b = momentum b + g; p -= rate b (PyTorch's form). Slots: velocity [N] with momentum, else none. */
export function sgd(options: SgdOptions = {}): Optimiser {
  const { momentum, clipNorm } = checkOptions('sgd', schema, options);
  return {
    init(params): NamedArrays {
      return momentum === 0 ? {} : { velocity: ndarray(new Float32Array(countOf(params))) };
    },
    update(gradients, slots, params, learningRate) {
      checkGradients('sgd.update', gradients, params);
      const names = Object.keys(params);
      const { gradient, gradientNorm } = clipByNorm(flatten(gradients, names), clipNorm);
      const velocity = momentum === 0 ? gradient : tf.add(tf.mul(slots.velocity, momentum), gradient);
      const next = tf.sub(flatten(params, names), tf.mul(velocity, learningRate)) as tf.Tensor1D;
      const nextSlots: TensorRecord = momentum === 0 ? {} : { velocity };
      return { params: unflatten(next, params, names), slots: nextSlots, gradientNorm };
    },
  };
}
