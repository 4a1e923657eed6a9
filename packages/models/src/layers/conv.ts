import { checkOptions, checkShapes, type Generator, type NamedArrays } from '@coplay/core';
import { checkGenerator } from '@coplay/core/checks';
import { orthogonal, type TensorRecord, tf, zeros } from '@coplay/tensor';
import { z } from 'zod';
import { activate } from './activations';
import type { Activation } from './layer';
import { checkParams, paramOf } from './params';

/** Options of {@link convStack}. */
export interface ConvOptions {
  /** [H, W, C] of one image */
  readonly shape: readonly number[];
  /** Number of filters of each layer, such as [16, 32, 32] */
  readonly filters: readonly number[];
  /** Side of the square kernels. Default 3 */
  readonly kernelSize?: number;
  /** After each layer. Default `relu` */
  readonly activation?: Activation;
}

/** Convolutions of stride 1 that keep height and width, then flattened. */
export interface ConvStack {
  /** H * W * filters of the last layer */
  readonly outputSize: number;
  init(generator: Generator): NamedArrays;
  /**
   * @param x [B, H, W, C]
   * @returns [B, outputSize]
   */
  apply(params: TensorRecord, x: tf.Tensor4D): tf.Tensor2D;
}

const schema = z.strictObject({
  shape: z.array(z.int().min(1)).length(3),
  filters: z.array(z.int().min(1)),
  kernelSize: z.int().min(1).optional(),
  activation: z.enum(['tanh', 'relu', 'silu', 'linear']).optional(),
});

/** A stack of convolutions over planes. Parameters: `0/kernel` [k, k, in, out], `0/bias` [out], ... */
export function convStack(options: ConvOptions): ConvStack {
  checkOptions('convStack', schema, options);
  const { shape, filters, kernelSize = 3, activation = 'relu' } = options;
  const [height, width, channels] = shape as [number, number, number];
  const inputs = [channels, ...filters];
  const outputSize = height * width * inputs.at(-1)!;
  return {
    outputSize,
    init: (generator) => {
      checkGenerator('convStack.init', generator);
      const params: NamedArrays = {};
      filters.forEach((count, i) => {
        const fan = kernelSize * kernelSize * inputs[i];
        const flat = orthogonal(generator.fork(), [fan, count], Math.SQRT2);
        params[`${i}/kernel`] = { data: flat.data, shape: [kernelSize, kernelSize, inputs[i], count] };
        params[`${i}/bias`] = zeros([count]);
      });
      return params;
    },
    apply: (params, x) => {
      const where = 'convStack.apply';
      checkParams(where, params);
      checkShapes(where, { x }, `B ${height} ${width} ${channels}`);
      const features = filters.reduce((h, count, i) => {
        const shape = [kernelSize, kernelSize, inputs[i], count];
        const kernel = paramOf<tf.Tensor4D>(where, params, `${i}/kernel`, shape);
        const bias = paramOf<tf.Tensor1D>(where, params, `${i}/bias`, [count]);
        return activate(activation, tf.add(tf.conv2d(h, kernel, 1, 'same'), bias) as tf.Tensor4D);
      }, x);
      return tf.reshape(features, [-1, outputSize]);
    },
  };
}
