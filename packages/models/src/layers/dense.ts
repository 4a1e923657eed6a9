import { orthogonal, tf, zeros } from '@coplay/tensor';
import { activate } from './activations';
import type { Activation, Layer } from './layer';

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

/** activation(x W + b) with an orthogonal W (Saxe et al. 2014). */
export function denseLayer(options: DenseOptions): Layer {
  const { inputSize, outputSize, activation = 'linear', gain = Math.SQRT2 } = options;
  return {
    outputSize,
    init: (generator) => ({
      kernel: orthogonal(generator, [inputSize, outputSize], gain),
      bias: zeros([outputSize]),
    }),
    apply: (params, x) => activate(activation, tf.add(tf.matMul(x, params['kernel'] as tf.Tensor2D), params['bias'])),
  };
}
