import { checkOptions, fail, type NamedArrays } from '@coplay/core';
import { checkGenerator, checkRecord } from '@coplay/core/checks';
import { tf } from '@coplay/tensor';
import { z } from 'zod';
import type { InputShapes } from '../inputs';
import { type Activation, type ConvStack, convStack, denseLayer, prefixed, within } from '../layers';
import { checkInputs } from './flatten';
import { activationSchema, linearTo } from './mlp';
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
 * alone. A linear layer follows where outputs are given.
 */
export function conv(options: ConvTorsoOptions = {}): TorsoBuilder {
  const config = checkOptions('conv', schema, options);
  return builtInTorso({ kind: 'conv', ...config }, (shapes, outputs) => buildConv(shapes, config, outputs));
}

function buildConv(shapes: InputShapes, config: z.infer<typeof schema>, outputs?: InputShapes): Torso {
  const { filters, kernelSize, activation } = config;
  const stacks: [string, ConvStack][] = [];
  for (const [name, shape] of Object.entries(shapes)) {
    if (shape.length === 3) stacks.push([name, convStack({ shape, filters, kernelSize, activation })]);
    else if (name !== 'vector' || shape.length !== 1) {
      const remedy = 'Join flat inputs end to end in vector, as encoders do, or use mlp().';
      fail(`conv: shapes.${name}`, 'an image [height, width, channels], or a flat vector', `[${shape}]`, remedy);
    }
  }
  const vectorSize = shapes['vector']?.[0] ?? 0;
  const joined = stacks.reduce((sum, [, stack]) => sum + stack.outputSize, vectorSize);
  const head = denseLayer({ inputSize: joined, outputSize: config.dense, activation });
  const last = outputs && linearTo(outputs, config.dense);
  return {
    outputSize: last?.outputSize ?? config.dense,
    init: (generator) => {
      checkGenerator('conv.init', generator);
      const params: NamedArrays = prefixed('dense', head.init(generator.fork()));
      for (const [name, stack] of stacks) Object.assign(params, prefixed(name, stack.init(generator.fork())));
      if (last) Object.assign(params, prefixed('outputs', last.init(generator.fork())));
      return params;
    },
    apply: (params, inputs) => {
      checkRecord('conv.apply', 'params', params);
      checkInputs('conv.apply', shapes, inputs);
      const parts = stacks.map(([name, stack]) => stack.apply(within(name, params), inputs[name] as tf.Tensor4D));
      if (vectorSize > 0) parts.push(inputs['vector'] as tf.Tensor2D);
      const all = parts.length === 1 ? parts[0] : (tf.concat(parts, 1) as tf.Tensor2D);
      const features = head.apply(within('dense', params), all);
      return last ? last.apply(within('outputs', params), features) : features;
    },
  };
}
