import type { NDArray } from '@coplay/core';
import { compile, type TensorRecord, tf, useBackend, valueAndGradients } from '@coplay/tensor';
import * as layers from '@tensorflow/tfjs-layers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMPILED, expectClose, floats, ints, weighted } from './compiled';
import { wave } from './compiled-cases';

const l = layers.layers;
type Layer = layers.layers.Layer;

/** Runs `body` while the model's layers read these weights, in the order of `model.weights`. */
function withWeights<T>(model: layers.LayersModel, weights: readonly tf.Tensor[], body: () => T): T {
  const lent = model.weights as { read(): tf.Tensor }[];
  lent.forEach((weight, i) => {
    weight.read = () => weights[i]!;
  });
  try {
    return body();
  } finally {
    for (const weight of lent) Reflect.deleteProperty(weight, 'read');
  }
}

interface Call {
  readonly x: NDArray;
  readonly weights: Record<string, NDArray>;
}

/** The outputs of a model, and the gradients of all its weights. */
async function outputsAndGradients(
  model: layers.LayersModel,
  { x, weights }: Call,
  executor: 'onnx' | 'wasm' | 'eager',
): Promise<Record<string, NDArray>> {
  const names = Object.keys(weights);
  const compiled = compile(
    (_, { x: input, weights: given }: { x: tf.Tensor; weights: TensorRecord }) => {
      const forward = (params: TensorRecord) =>
        withWeights(
          model,
          names.map((name) => params[name]!),
          () => model.apply(input, { training: false }) as tf.Tensor,
        );
      const { gradients } = valueAndGradients((params) => ({ loss: weighted(forward(params)) }), given);
      return { outputs: { y: forward(given), gradients } };
    },
    { name: 'model', executor, threads: 1 },
  );
  const { y, gradients } = await compiled({ x, weights });
  compiled.dispose();
  return { y, ...gradients };
}

describe("a user's model of tfjs-layers, compiled", () => {
  beforeEach(async () => {
    await useBackend('cpu');
    tf.engine().startScope();
  });
  afterEach(() => {
    tf.engine().endScope();
    tf.disposeVariables();
  });

  const planes = () => wave(3, 6, 6, 2);
  const rows = () => wave(4, 5);
  const sequence = () => wave(2, 4, 3);
  const ids = () => ints([0, 1, 2, 4, 4, 0], [2, 3]);

  const models: [string, () => NDArray, readonly (() => Layer)[]][] = [
    ['dense', rows, [() => l.dense({ units: 4, activation: 'tanh' }), () => l.dense({ units: 3, useBias: false })]],
    ...(
      [
        'relu',
        'relu6',
        'elu',
        'selu',
        'sigmoid',
        'hardSigmoid',
        'softplus',
        'softsign',
        'tanh',
        'softmax',
        'swish',
        'mish',
      ] as const
    ).map((activation): [string, () => NDArray, readonly (() => Layer)[]] => [
      `dense ${activation}`,
      rows,
      [() => l.dense({ units: 4, activation })],
    ]),
    [
      'activation layers',
      rows,
      [
        () => l.activation({ activation: 'relu' }),
        () => l.dense({ units: 4 }),
        () => l.leakyReLU({ alpha: 0.2 }),
        () => l.dense({ units: 4 }),
        () => l.elu({ alpha: 1 }),
        () => l.dense({ units: 4 }),
        () => l.prelu(),
        () => l.thresholdedReLU({ theta: 0.2 }),
        () => l.dense({ units: 3 }),
        () => l.softmax(),
      ],
    ],
    [
      'conv1d',
      sequence,
      [
        () => l.conv1d({ filters: 3, kernelSize: 2, padding: 'same', activation: 'relu' }),
        () => l.globalAveragePooling1d(),
      ],
    ],
    [
      'strided conv1d',
      sequence,
      [
        () => l.conv1d({ filters: 3, kernelSize: 2, padding: 'valid', strides: 2 }),
        () => l.maxPooling1d({ poolSize: 1 }),
      ],
    ],
    [
      'conv2d',
      planes,
      [
        () => l.conv2d({ filters: 3, kernelSize: 3, padding: 'same', activation: 'relu' }),
        () => l.maxPooling2d({ poolSize: 2 }),
        () => l.flatten(),
        () => l.dense({ units: 2 }),
      ],
    ],
    [
      'strided conv2d',
      planes,
      [() => l.conv2d({ filters: 3, kernelSize: 3, strides: 2 }), () => l.averagePooling2d({ poolSize: 2 })],
    ],
    [
      'depthwise conv',
      planes,
      [() => l.depthwiseConv2d({ kernelSize: 3, padding: 'same', depthMultiplier: 2 }), () => l.globalMaxPooling2d({})],
    ],
    ['separable conv', planes, [() => l.separableConv2d({ filters: 3, kernelSize: 3, padding: 'same' })]],
    ['transposed conv', planes, [() => l.conv2dTranspose({ filters: 2, kernelSize: 3, strides: 2, padding: 'same' })]],
    [
      'upsampling, padding, cropping',
      planes,
      [
        () => l.upSampling2d({ size: [2, 2] }),
        () => l.zeroPadding2d({ padding: [1, 2] }),
        () =>
          l.cropping2D({
            cropping: [
              [1, 0],
              [0, 2],
            ],
          }),
        () => l.conv2d({ filters: 1, kernelSize: 3, strides: 2 }),
      ],
    ],
    [
      'embedding',
      ids,
      [() => l.embedding({ inputDim: 5, outputDim: 3 }), () => l.flatten(), () => l.dense({ units: 2 })],
    ],
    [
      'masked embedding and GRU',
      ids,
      [() => l.embedding({ inputDim: 5, outputDim: 3, maskZero: true }), () => l.gru({ units: 3 })],
    ],
    ['simple RNN', sequence, [() => l.simpleRNN({ units: 4 })]],
    ['GRU', sequence, [() => l.gru({ units: 4, returnSequences: true }), () => l.gru({ units: 3 })]],
    ['LSTM', sequence, [() => l.lstm({ units: 4, recurrentActivation: 'sigmoid' })]],
    [
      'bidirectional LSTM',
      sequence,
      [
        () =>
          l.bidirectional({ layer: l.lstm({ units: 2, returnSequences: true }) as layers.RNN, mergeMode: 'concat' }),
        () => l.timeDistributed({ layer: l.dense({ units: 2 }) }),
      ],
    ],
    ['layer normalisation', sequence, [() => l.layerNormalization(), () => l.dense({ units: 3 })]],
    [
      'batch normalisation',
      planes,
      [() => l.batchNormalization({ axis: -1 }), () => l.conv2d({ filters: 2, kernelSize: 3 })],
    ],
    ['batch normalisation of rows', rows, [() => l.dense({ units: 3 }), () => l.batchNormalization()]],
    ['dropout outside of training', rows, [() => l.dropout({ rate: 0.5 }), () => l.dense({ units: 2 })]],
    [
      'reshape, permute, repeat',
      rows,
      [
        () => l.dense({ units: 6 }),
        () => l.reshape({ targetShape: [2, 3] }),
        () => l.permute({ dims: [2, 1] }),
        () => l.flatten(),
        () => l.repeatVector({ n: 2 }),
      ],
    ],
  ];

  it.each(models)('%s: outputs and gradients as eager', async (_, input, makers) => {
    const x = input();
    const symbolic = layers.input({
      shape: x.shape.slice(1),
      dtype: x.data instanceof Int32Array ? 'int32' : 'float32',
    });
    const output = makers.reduce((y, make) => make().apply(y) as layers.SymbolicTensor, symbolic);
    const model = layers.model({ inputs: symbolic, outputs: output });
    // Every weight gets a value that matters; variances of batch normalisation must be positive.
    const weights = Object.fromEntries(
      model.weights.map(({ shape, originalName }, i) => {
        const { data } = wave(...(shape as number[]));
        const positive = /variance/.test(originalName);
        return [
          `w${i}`,
          floats(
            Array.from(data, (w) => (positive ? w * w + 0.2 : 0.4 * w)),
            shape as number[],
          ),
        ];
      }),
    );
    const expected = await outputsAndGradients(model, { x, weights }, 'eager');
    const before = tf.memory().numTensors;
    for (const executor of COMPILED) {
      const got = await outputsAndGradients(model, { x, weights }, executor);
      expect(tf.memory().numTensors).toBe(before);
      expect(Object.keys(got)).toEqual(Object.keys(expected));
      for (const name in expected) {
        expect(got[name]!.shape).toEqual(expected[name]!.shape);
        expectClose([...got[name]!.data], [...expected[name]!.data], 1e-5);
      }
    }
    // The gradients mean something: they aren't zero everywhere.
    const sum = Object.values(expected).reduce(
      (total, { data }) => total + [...data].reduce((a, b) => a + Math.abs(b), 0),
      0,
    );
    expect(sum).toBeGreaterThan(0.1);
  });

  it('dropout by noise that is given', async () => {
    const mask = floats([1, 0, 1, 1, 0], [1, 5]);
    const compiled = compile(
      (_, { x, mask: kept }: TensorRecord) => ({ outputs: { y: tf.div(tf.mul(x!, kept!), 0.6) } }),
      { name: 'dropout', executor: 'onnx' },
    );
    const { y } = await compiled({ x: floats([3, 3, 6, 9, 3], [1, 5]), mask });
    expectClose([...y!.data], [5, 0, 10, 15, 0], 1e-6);
    compiled.dispose();
  });
});
