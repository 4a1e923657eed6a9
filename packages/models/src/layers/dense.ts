import { checkOptions, checkShapes } from '@coplay/core';
import { checkGenerator } from '@coplay/core/checks';
import { orthogonal, tf, zeros } from '@coplay/tensor';
import { z } from 'zod';
import { activate } from './activations';
import type { Activation, Layer } from './layer';
import { paramOf } from './params';

/** Options of {@link denseLayer}. */
export interface DenseOptions {
  /** Features in; at least 1 */
  readonly inputSize: number;
  /** Features out; at least 1 */
  readonly outputSize: number;
  /** Default `linear` */
  readonly activation?: Activation;
  /** Gain of the orthogonal initial kernel; the bias starts at 0. Default sqrt(2) */
  readonly gain?: number;
}

const schema = z.strictObject({
  inputSize: z.int().min(1),
  outputSize: z.int().min(1),
  activation: z.enum(['tanh', 'relu', 'silu', 'linear']).optional(),
  gain: z.number().optional(),
});

/** activation(x W + b) with an orthogonal W (Saxe et al. 2014). */
export function denseLayer(options: DenseOptions): Layer {
  checkOptions('denseLayer', schema, options);
  const { inputSize, outputSize, activation = 'linear', gain = Math.SQRT2 } = options;
  return {
    outputSize,
    init: (generator) => {
      checkGenerator('denseLayer.init', generator);
      return { kernel: orthogonal(generator, [inputSize, outputSize], gain), bias: zeros([outputSize]) };
    },
    apply: (params, x) => {
      const where = 'denseLayer.apply';
      checkShapes(where, { x }, `B ${inputSize}`);
      const kernel = paramOf<tf.Tensor2D>(where, params, 'kernel', [inputSize, outputSize]);
      const bias = paramOf<tf.Tensor1D>(where, params, 'bias', [outputSize]);
      return activate(activation, tf.add(tf.matMul(x, kernel), bias));
    },
  };
}
