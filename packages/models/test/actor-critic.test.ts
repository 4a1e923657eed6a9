import { createGenerator, type NamedArrays } from '@coplay/core';
import { type ActorCritic, actorCritic, conv, layersModel, mlp, type TorsoBuilder } from '@coplay/models';
import { readWeights, type TensorRecord, tf, useBackend, valueAndGradients, writeWeights } from '@coplay/tensor';
import * as layers from '@tensorflow/tfjs-layers';
import { beforeAll, describe, expect, it } from 'vitest';

beforeAll(async () => {
  await useBackend('cpu');
});

const inputs = { planes: [2, 2, 3], vector: [4] };
const tensors = (arrays: NamedArrays): TensorRecord =>
  Object.fromEntries(
    Object.entries(arrays).map(([name, { data, shape }]) => [name, tf.tensor(data as Float32Array, [...shape])]),
  );
const rows = (count: number): TensorRecord => ({
  planes: tf.randomUniform([count, 2, 2, 3], 0, 1, 'float32', 1),
  vector: tf.randomUniform([count, 4], 0, 1, 'float32', 2),
});

/** A user's own model, as tfjs-layers builds it. */
const own = layersModel((_shapes, size) =>
  layers.sequential({
    layers: [
      layers.layers.dense({
        inputShape: [size],
        units: 5,
        activation: 'tanh',
        kernelInitializer: layers.initializers.glorotUniform({ seed: 1 }),
      }),
    ],
  }),
);

describe.each<[string, TorsoBuilder]>([
  ['mlp', mlp({ hidden: [6, 5] })],
  ['conv', conv({ filters: [3], dense: 5 })],
  ['layersModel', own],
])('an actor-critic of %s', (_, network) => {
  let net: ActorCritic;
  beforeAll(() => {
    net = actorCritic({ inputs, actions: 3, network });
  });
  const mask = () => tf.tensor2d([1, 1, 1, 0, 1, 1, 1, 0, 0], [3, 3]);

  it('gives a masked policy, nearly uniform at first, and a value for each row', () => {
    const params = tensors(net.init(createGenerator(1)));
    const { policy } = net.act(params, rows(3), mask());
    const probs = tf.exp(policy).arraySync() as number[][];
    for (const row of probs) expect(row.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 5);
    expect(probs[1][0]).toBe(0);
    expect(probs[2]).toEqual([1, 0, 0]);
    for (const p of probs[0]) expect(p).toBeCloseTo(1 / 3, 1);
    expect(net.value(params, { inputs: rows(3) }).values.shape).toEqual([3]);
  });

  it('learns with the same function as it acts', () => {
    const params = tensors(net.init(createGenerator(1)));
    const acted = net.act(params, rows(3), mask()).policy.dataSync();
    const learned = net.policy(params, { inputs: rows(3) }, mask()).dataSync();
    expect([...learned]).toEqual([...acted]);
  });

  it('gives gradients to the actor from the policy alone, and to the critic from the value alone', () => {
    const params = tensors(net.init(createGenerator(1)));
    const touched = (loss: (p: TensorRecord) => tf.Tensor) => {
      const { gradients } = valueAndGradients((p) => ({ loss: loss(p) as tf.Scalar }), params);
      return Object.keys(params).filter((name) => gradients[name].dataSync().some((value) => value !== 0));
    };
    const byPolicy = touched((p) => tf.sum(tf.square(net.policy(p, { inputs: rows(3) }, tf.ones([3, 3])))));
    expect(byPolicy.length).toBeGreaterThan(0);
    expect(byPolicy.filter((name) => !name.startsWith('actor/'))).toEqual([]);
    const byValue = touched((p) => tf.sum(tf.square(net.value(p, { inputs: rows(3) }).values)));
    expect(byValue.length).toBeGreaterThan(2);
    expect(byValue.filter((name) => !name.startsWith('critic/'))).toEqual([]);
  });
});

describe('a recurrent actor-critic', () => {
  const net = actorCritic({ inputs, actions: 3, network: mlp({ hidden: [6] }), recurrent: 4 });

  it('replays in training the policy that acted', () => {
    const params = tensors(net.init(createGenerator(1)));
    const steps = 5;
    const seen = Array.from({ length: steps }, (_, t) => ({
      planes: tf.randomUniform([2, 2, 2, 3], 0, 1, 'float32', t),
      vector: tf.randomUniform([2, 4], 0, 1, 'float32', 50 + t),
    }));
    const isFirst = [
      [0, 0, 1, 0, 0],
      [1, 0, 0, 0, 1],
    ];
    const start = tf.randomNormal([2, 4], 0, 1, 'float32', 9) as tf.Tensor2D;
    const mask = tf.ones([2, 3]) as tf.Tensor2D;
    let state = start;
    const acted = seen.map((input, t) => {
      const keep = tf.tensor2d(isFirst.map((row) => [1 - row[t]]));
      const { policy, state: next } = net.act(params, input, mask, tf.mul(state, keep) as tf.Tensor2D);
      state = next!;
      return policy.arraySync();
    });
    const stacked = {
      planes: tf.stack(
        seen.map((s) => s.planes),
        1,
      ),
      vector: tf.stack(
        seen.map((s) => s.vector),
        1,
      ),
    };
    const replayed = net.policy(
      params,
      { inputs: stacked, isFirst: tf.tensor2d(isFirst), state: start },
      tf.ones([2, steps, 3]),
    );
    const byRow = tf.reshape(replayed, [2, steps, 3]).arraySync() as number[][][];
    for (let t = 0; t < steps; t++) {
      for (let b = 0; b < 2; b++) for (let k = 0; k < 3; k++) expect(byRow[b][t][k]).toBeCloseTo(acted[t][b][k], 6);
    }
  });

  it('says so when sequences come without a state', () => {
    const params = tensors(net.init(createGenerator(1)));
    expect(() => net.value(params, { inputs: rows(2) })).toThrow(/actorCritic.value: expected isFirst and state/);
  });
});

describe('a user’s LayersModel', () => {
  const build = () =>
    layers.sequential({
      layers: [layers.layers.dense({ inputShape: [2], units: 2, useBias: true, activation: 'linear' })],
    });

  it('gets trained weights back, so that predict sees them', () => {
    const model = build();
    writeWeights(model, {
      weight_0: { data: Float32Array.of(1, 0, 0, 2), shape: [2, 2] },
      weight_1: { data: Float32Array.of(0.5, -0.5), shape: [2] },
    });
    const predicted = model.predict(tf.tensor2d([[3, 4]])) as tf.Tensor;
    expect([...predicted.dataSync()]).toEqual([3.5, 7.5]);
    expect([...readWeights(model)['weight_0'].data]).toEqual([1, 0, 0, 2]);
  });

  it('is read with the parameters it is given, not its own, and is as it was afterwards', () => {
    const model = build();
    const torso = layersModel(() => model)({ vector: [2] });
    const own = [...readWeights(model)['weight_0'].data];
    const params = { weight_0: tf.tensor2d([1, 0, 0, 1], [2, 2]), weight_1: tf.zeros([2]) };
    expect([...torso.apply(params, { vector: tf.tensor2d([[3, 4]]) }).dataSync()]).toEqual([3, 4]);
    expect([...readWeights(model)['weight_0'].data]).toEqual(own);
  });

  it('is refused if its output is not a flat vector', () => {
    const image = () =>
      layers.sequential({ layers: [layers.layers.reshape({ inputShape: [4], targetShape: [2, 2] })] });
    expect(() => layersModel(image)({ vector: [4] })).toThrow(
      /layersModel: expected a model with one output of shape \[batch, features\], got \[,2,2\]/,
    );
  });
});
