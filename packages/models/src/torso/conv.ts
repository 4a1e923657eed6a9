import { checkOptions, type NamedArrays } from '@coplay/core';
import { checkGenerator, checkRecord } from '@coplay/core/checks';
import { tf } from '@coplay/tensor';
import { z } from 'zod';
import type { InputShapes } from '../inputs';
import { type Activation, type ConvStack, convStack, denseLayer, prefixed, within } from '../layers';
import { checkInputs } from './flatten';
import { activationSchema } from './mlp';
import { builtInTorso, type Torso, type TorsoBuilder } from './torso';

/** Options of {@link conv}. */
export interface ConvTorsoOptions {
  /** Filters of each convolution. Default [16, 32, 32] */
  readonly filters?: readonly number[];
  /** Side of the kernels. Default 3 */
  readonly kernelSize?: number;
  /** Units of the dense layer that joins images and vector. Default 128 */
  readonly dense?: number;
  /** Default `relu` */
  readonly activation?: Activation;
}

const schema = z.strictObject({
  filters: z.array(z.int().min(1)).min(1).default([16, 32, 32]),
  kernelSize: z.int().min(1).default(3),
  dense: z.int().min(1).default(128),
  activation: activationSchema.default('relu'),
});

/**
 * Convolutions over each image, flattened, joined with the vector, then one dense layer. Without images it's that layer
 * alone.
 */
export function conv(options: ConvTorsoOptions = {}): TorsoBuilder {
  const config = checkOptions('conv', schema, options);
  return builtInTorso({ kind: 'conv', ...config }, (shapes) => buildConv(shapes, config));
}

function buildConv(shapes: InputShapes, config: z.infer<typeof schema>): Torso {
  const { filters, kernelSize, activation } = config;
  const stacks: [string, ConvStack][] = [];
  for (const [name, shape] of Object.entries(shapes)) {
    if (shape.length === 3) stacks.push([name, convStack({ shape, filters, kernelSize, activation })]);
  }
  const vectorSize = shapes['vector']?.[0] ?? 0;
  const joined = stacks.reduce((sum, [, stack]) => sum + stack.outputSize, vectorSize);
  const head = denseLayer({ inputSize: joined, outputSize: config.dense, activation });
  return {
    outputSize: config.dense,
    init: (generator) => {
      checkGenerator('conv.init', generator);
      const params: NamedArrays = prefixed('dense', head.init(generator.fork()));
      for (const [name, stack] of stacks) Object.assign(params, prefixed(name, stack.init(generator.fork())));
      return params;
    },
    apply: (params, inputs) => {
      checkRecord('conv.apply', 'params', params);
      checkInputs('conv.apply', shapes, inputs);
      const parts = stacks.map(([name, stack]) => stack.apply(within(params, name), inputs[name] as tf.Tensor4D));
      if (vectorSize > 0) parts.push(inputs['vector'] as tf.Tensor2D);
      return head.apply(within(params, 'dense'), parts.length === 1 ? parts[0] : (tf.concat(parts, 1) as tf.Tensor2D));
    },
  };
}
