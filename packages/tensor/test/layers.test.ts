import { createGenerator } from '@coplay/core';
import { tf, useBackend, valueAndGradients } from '@coplay/tensor';
import * as layers from '@tensorflow/tfjs-layers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadableBackends } from './backends';

/** What a model is to give everywhere: so far from what any gives at first that a few steps must come nearer. */
const TARGET = 5;

/** Trains a model of tfjs-layers for a few steps by tfjs's own optimiser; returns the first loss and the last. */
function train(model: layers.LayersModel, x: tf.Tensor, steps = 15): [number, number] {
  const losses: number[] = [];
  const variables = model.trainableWeights.map((weight) => weight.read() as tf.Variable);
  const optimiser = tf.train.adam(0.02);
  for (let i = 0; i < steps; i++) {
    const loss = optimiser.minimize(
      () => tf.mean(tf.square(tf.sub(model.apply(x) as tf.Tensor, TARGET))) as tf.Scalar,
      true,
      variables,
    )!;
    losses.push(loss.dataSync()[0]);
    loss.dispose();
  }
  optimiser.dispose();
  return [losses[0], losses[steps - 1]];
}

describe.each(await loadableBackends())("a user's model of tfjs-layers on %s", (backend) => {
  beforeEach(async () => {
    await useBackend(backend);
    tf.engine().startScope();
    // Initialisers of tfjs-layers take their seeds from here.
    const generator = createGenerator(1);
    vi.spyOn(Math, 'random').mockImplementation(() => generator.uniform());
  });
  afterEach(() => {
    vi.restoreAllMocks();
    tf.engine().endScope();
  });

  const planes = () =>
    tf.tensor(
      Float32Array.from({ length: 3 * 6 * 6 * 2 }, (_, i) => Math.sin(i)),
      [3, 6, 6, 2],
    );
  const ids = () =>
    tf.tensor2d(
      [
        [0, 1, 2],
        [4, 4, 0],
      ],
      [2, 3],
      'int32',
    );
  const sequence = () =>
    tf.tensor(
      Float32Array.from({ length: 2 * 4 * 3 }, (_, i) => Math.cos(i)),
      [2, 4, 3],
    );

  const models: [string, () => tf.Tensor, layers.layers.Layer[]][] = [
    [
      'dense',
      () => tf.reshape(planes(), [3, 72]),
      [layers.layers.dense({ units: 5, activation: 'tanh', inputShape: [72] })],
    ],
    [
      'conv',
      planes,
      [
        layers.layers.conv2d({ filters: 3, kernelSize: 3, padding: 'same', activation: 'relu', inputShape: [6, 6, 2] }),
        layers.layers.maxPooling2d({ poolSize: 2 }),
        layers.layers.flatten(),
      ],
    ],
    [
      'depthwise conv',
      planes,
      [
        layers.layers.depthwiseConv2d({ kernelSize: 3, padding: 'same', inputShape: [6, 6, 2] }),
        layers.layers.averagePooling2d({ poolSize: 3, padding: 'same' }),
        layers.layers.flatten(),
      ],
    ],
    [
      'embedding',
      ids,
      [layers.layers.embedding({ inputDim: 5, outputDim: 3, inputLength: 3 }), layers.layers.flatten()],
    ],
    ['GRU', sequence, [layers.layers.gru({ units: 4, inputShape: [4, 3] })]],
    ['LSTM', sequence, [layers.layers.lstm({ units: 4, inputShape: [4, 3] })]],
    [
      'prelu, layer normalisation',
      sequence,
      [layers.layers.layerNormalization({ inputShape: [4, 3] }), layers.layers.prelu(), layers.layers.flatten()],
    ],
  ];

  it.each(models)('%s learns', (_, x, stack) => {
    const model = layers.sequential({ layers: [...stack, layers.layers.dense({ units: 1 })] });
    const [first, last] = train(model, x());
    expect(Number.isFinite(first)).toBe(true);
    expect(last).toBeLessThan(first);
    model.dispose();
  });

  it('a loss with comparisons has gradients', () => {
    const { gradients } = valueAndGradients(
      ({ w }) => ({
        loss: tf.sum(tf.where(tf.logicalNot(tf.greater(w!, 1)), tf.square(w!), tf.mul(w!, 5))) as tf.Scalar,
      }),
      { w: tf.tensor1d([0.5, 2, -3]) },
    );
    expect([...gradients['w']!.dataSync()]).toEqual([1, 5, -6]);
  });
});
