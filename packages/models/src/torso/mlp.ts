import { checkOptions } from '@coplay/core';
import { z } from 'zod';
import { flatSize, type InputShapes } from '../inputs';
import { type Activation, denseLayer, type Layer, sequential } from '../layers';
import { checkInputs, flattenInputs } from './flatten';
import { builtInTorso, type TorsoBuilder } from './torso';

/** Options of {@link mlp}. */
export interface MlpOptions {
  /** Units of each hidden layer, at least 1 each. Default [128, 128] */
  readonly hidden?: readonly number[];
  /** Default `tanh` */
  readonly activation?: Activation;
}

export const activationSchema = z.enum(['tanh', 'relu', 'silu', 'linear']);
const schema = z.strictObject({
  hidden: z.array(z.int().min(1)).default([128, 128]),
  activation: activationSchema.default('tanh'),
});

/** The layer behind a body that makes it predict arrays of these shapes. */
export function linearTo(outputs: InputShapes, inputSize: number): Layer {
  return denseLayer({ inputSize, outputSize: flatSize(outputs), gain: 1 });
}

/**
 * A multilayer perceptron over everything the network reads, flattened; a linear layer follows where outputs are
 * given.
 */
export function mlp(options: MlpOptions = {}): TorsoBuilder {
  const { hidden, activation } = checkOptions('mlp', schema, options);
  return builtInTorso({ kind: 'mlp', hidden, activation }, (shapes, outputs) => {
    const inputSize = flatSize(shapes);
    const sizes = [inputSize, ...hidden];
    const layers = hidden.map((outputSize, i) => denseLayer({ inputSize: sizes[i], outputSize, activation }));
    if (outputs) layers.push(linearTo(outputs, sizes[hidden.length]));
    const body = sequential(layers, inputSize);
    return {
      outputSize: body.outputSize,
      init: body.init,
      apply: (params, inputs) => {
        checkInputs('mlp.apply', shapes, inputs);
        return body.apply(params, flattenInputs(shapes, inputs));
      },
    };
  });
}
