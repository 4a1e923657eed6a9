import { createGenerator, type NamedArrays, ndarray } from '@coplay/core';
import {
  adam,
  applyModel,
  compile,
  readWeights,
  type StepFunction,
  tf,
  useBackend,
  valueAndGradients,
  variables,
  writeWeights,
} from '@coplay/tensor';
import { toOnnx } from '@coplay/tensor/onnx';
import * as layers from '@tensorflow/tfjs-layers';
import { beforeAll, describe, expect, it } from 'vitest';
import { applyModelOutputs } from '../src/layers-model/apply-model';
import { runNode } from './onnx-files';

beforeAll(() => useBackend('cpu'));

/** Dense layers with batch normalisation and dropout between them, and one layer that is frozen. */
function build() {
  const { dense, batchNormalization, dropout } = layers.layers;
  const kernelInitializer = layers.initializers.glorotNormal({ seed: 1 });
  const model = layers.sequential({
    layers: [
      dense({ inputShape: [3], units: 8, activation: 'tanh', kernelInitializer }),
      batchNormalization(),
      dropout({ rate: 0.5 }),
      dense({ units: 4, trainable: false, kernelInitializer }),
      dense({ units: 1, kernelInitializer }),
    ],
  });
  const [batchNorm] = model.layers.filter((layer) => layer.getClassName() === 'BatchNormalization');
  const [gamma, beta] = batchNorm.getWeights();
  // moving averages as a fit would leave them
  batchNorm.setWeights([gamma, beta, tf.fill([8], 0.25), tf.fill([8], 2)]);
  return model;
}

type Model = ReturnType<typeof build>;

const generator = createGenerator(3);
const x = ndarray(
  Float32Array.from({ length: 48 }, () => 2 * generator.uniform() - 1),
  [16, 3],
);
const y = ndarray(
  Float32Array.from({ length: 16 }, (_, row) => Math.sin(x.data[3 * row]) - x.data[3 * row + 1]),
  [16, 1],
);

function predict(model: Model): number[] {
  return tf.tidy(() => [...(model.predict(tf.tensor2d(x.data, [16, 3])) as tf.Tensor).dataSync()]);
}

/** A step of mean squared error with Adam over a model's weights. */
function training(model: Model, executor: 'onnx' | 'wasm' | 'eager') {
  const initial = readWeights(model);
  const optimiser = adam();
  const params = variables(initial);
  const slots = variables(optimiser.init(initial));
  const fn: StepFunction<'params' | 'slots'> = (state, inputs) => {
    const { loss, gradients } = valueAndGradients((p) => {
      const error = tf.sub(applyModel(model, p, inputs['x']), inputs['y']);
      return { loss: tf.mean(tf.square(error)) as tf.Scalar, metrics: {} };
    }, state.params);
    const next = optimiser.update(gradients, state.slots, state.params, 0.01);
    return { state: { params: next.params, slots: next.slots }, outputs: { loss } };
  };
  return { params, step: compile(fn, { name: 'fit', state: { params, slots }, executor }) };
}

const meanSquare = (predicted: readonly number[]) =>
  predicted.reduce((sum, value, row) => sum + (value - y.data[row]) ** 2, 0) / predicted.length;

describe('a LayersModel that is trained by a compiled step', () => {
  it('can be used eagerly before, between and after compiled updates, and sees trained weights when they are written', async () => {
    const model = build();
    const before = predict(model);
    const { params, step } = training(model, 'onnx');
    const { loss: first } = await step({ x, y });
    expect(first.data[0]).toBeCloseTo(meanSquare(before), 5);
    expect(predict(model)).toEqual(before); // nothing was written yet

    writeWeights(model, await params.read());
    const between = predict(model);
    const { loss: second } = await step({ x, y });
    expect(second.data[0]).toBeCloseTo(meanSquare(between), 5);

    for (let i = 0; i < 50; i++) await step({ x, y });
    writeWeights(model, await params.read());
    const { loss: last } = await step({ x, y });
    expect(last.data[0]).toBeCloseTo(meanSquare(predict(model)), 5);
    expect(last.data[0]).toBeLessThan(first.data[0] / 4);
  });

  it('is saved with its trained weights, and can be trained by tfjs itself afterwards', async () => {
    const model = build();
    const { params, step } = training(model, 'onnx');
    for (let i = 0; i < 5; i++) await step({ x, y });
    writeWeights(model, await params.read());
    let saved: tf.io.ModelArtifacts | undefined;
    await model.save(
      tf.io.withSaveHandler(async (artifacts) => {
        saved = artifacts;
        return { modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' } };
      }),
    );
    const loaded = await layers.loadLayersModel(tf.io.fromMemory(saved!));
    expect(predict(loaded as Model)).toEqual(predict(model));

    model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
    const { history } = await model.fit(tf.tensor2d(x.data, [16, 3]), tf.tensor2d(y.data, [16, 1]), { epochs: 1 });
    expect(Number.isFinite(history['loss'][0])).toBe(true);
  });

  it('takes the same steps compiled and eagerly', async () => {
    const runs: NamedArrays[] = [];
    for (const executor of ['onnx', 'wasm', 'eager'] as const) {
      const { params, step } = training(build(), executor);
      for (let i = 0; i < 3; i++) await step({ x, y });
      runs.push(await params.read());
    }
    for (const [name, { data }] of Object.entries(runs[1])) {
      for (const [i, value] of data.entries()) expect(runs[0][name].data[i]).toBeCloseTo(value, 5);
    }
  });

  it('leaves weights alone that are not trainable', async () => {
    const model = build();
    const fixed = () => model.nonTrainableWeights.map((weight) => [...weight.read().dataSync()]);
    const before = fixed();
    expect(before).toHaveLength(4); // two moving averages, a kernel and a bias
    const { params, step } = training(model, 'onnx');
    await step({ x, y });
    writeWeights(model, await params.read());
    expect(fixed()).toEqual(before);
    expect(params.names).toHaveLength(6);
  });

  it('can be exported', async () => {
    const model = build();
    const state = { params: variables(readWeights(model)) };
    const fn: StepFunction<'params'> = ({ params }, inputs) => ({
      outputs: { y: applyModel(model, params, inputs['x']) },
    });
    const bytes = await toOnnx(fn, { name: 'model', state, inputs: { x: { shape: ['batch', 3] } } });
    const [got] = await runNode(bytes, [{ x }]);
    for (const [row, value] of predict(model).entries()) expect(got['y'].data[row]).toBeCloseTo(value, 5);
  });
});

describe('a model with two inputs and two outputs', () => {
  it('is a function of all of them', () => {
    const { dense, add } = layers.layers;
    const [a, b] = [layers.input({ shape: [2] }), layers.input({ shape: [2] })];
    const sum = add().apply([a, b]) as layers.SymbolicTensor;
    const out = dense({ units: 1, useBias: false }).apply(sum) as layers.SymbolicTensor;
    const model = layers.model({ inputs: [a, b], outputs: [sum, out] });
    const params = { weight_0: tf.tensor2d([[10], [1]]) };
    const given = [tf.tensor2d([[1, 2]]), tf.tensor2d([[3, 4]])];
    const made = applyModelOutputs(model, params, given).map((tensor) => [...tensor.dataSync()]);
    expect(made).toEqual([[4, 6], [46]]);
    expect(() => applyModel(model, params, given)).toThrow(/a model with one output, got 2 outputs/);
  });
});

describe('writeWeights', () => {
  it('finds the weights below a name', () => {
    const model = layers.sequential({ layers: [layers.layers.dense({ inputShape: [1], units: 1 })] });
    const weights = {
      'actor/body/weight_0': ndarray(Float32Array.of(2), [1, 1]),
      'actor/body/weight_1': ndarray(Float32Array.of(-1)),
      'actor/head/bias': ndarray(Float32Array.of(7)),
    };
    writeWeights(model, weights, 'actor/body');
    expect([...(model.predict(tf.tensor2d([[3]])) as tf.Tensor).dataSync()]).toEqual([5]);
  });

  it('changes nothing if one is missing or of another shape', () => {
    const model = layers.sequential({ layers: [layers.layers.dense({ inputShape: [1], units: 1 })] });
    const before = readWeights(model);
    const kernel = ndarray(Float32Array.of(2), [1, 1]);
    expect(() => writeWeights(model, { weight_0: kernel })).toThrow(
      /expected a parameter weight_1 of shape \[1\], got weight_0/,
    );
    expect(() => writeWeights(model, { weight_0: kernel, weight_1: ndarray(Float32Array.of(1, 2)) })).toThrow(
      /got one of \[2\]/,
    );
    expect(readWeights(model)).toEqual(before);
  });

  it('and applyModel say which parameter is missing', () => {
    const model = layers.sequential({ layers: [layers.layers.dense({ inputShape: [1], units: 1 })] });
    expect(() => applyModel(model, {}, tf.tensor2d([[3]]))).toThrow(
      /applyModel: expected a parameter weight_0, got none/,
    );
    expect(() => model.predict(tf.tensor2d([[3]]))).not.toThrow(); // its own weights are back
  });
});
