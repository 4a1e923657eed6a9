import { createGenerator, type NamedArrays } from '@coplay/core';
import { actorCritic, moaNet } from '@coplay/models';
import { rssm } from '@coplay/models/dreamer';
import {
  blockDense,
  convStack,
  denseLayer,
  gru,
  linear,
  normLayer,
  rmsNorm,
  type Torso,
  torsoBuilder,
} from '@coplay/models/layers';
import { stateVae } from '@coplay/models/omg';
import { type TensorRecord, tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';

beforeAll(async () => {
  await useBackend('cpu');
});

const tensors = (arrays: NamedArrays): TensorRecord =>
  Object.fromEntries(
    Object.entries(arrays).map(([name, { data, shape }]) => [name, tf.tensor(data as Float32Array, [...shape])]),
  );

describe('denseLayer', () => {
  const layer = denseLayer({ inputSize: 6, outputSize: 4, activation: 'relu' });

  it('starts with orthogonal columns of length sqrt(2) and no bias', () => {
    const { kernel, bias } = layer.init(createGenerator(1));
    const W = tf.tensor2d(kernel.data as Float32Array, [6, 4]);
    const product = tf.matMul(W, W, true).dataSync();
    for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) expect(product[i * 4 + j]).toBeCloseTo(i === j ? 2 : 0, 5);
    expect([...bias.data]).toEqual([0, 0, 0, 0]);
  });

  it('is relu(x W + b)', () => {
    const params = { kernel: tf.tensor2d([1, -1, 2, 0], [2, 2]), bias: tf.tensor1d([0.5, 0.25]) };
    const x = tf.tensor2d([1, 1], [1, 2]);
    // [1 + 2 + 0.5, -1 + 0 + 0.25]
    const small = denseLayer({ inputSize: 2, outputSize: 2, activation: 'relu' });
    expect([...small.apply(params, x).dataSync()]).toEqual([3.5, 0]);
  });
});

describe('convStack', () => {
  it('adds up neighbours: a kernel of ones on a single 1 gives its neighbourhood', () => {
    const stack = convStack({ shape: [3, 3, 1], filters: [1] });
    const params = { '0/kernel': tf.ones([3, 3, 1, 1]), '0/bias': tf.zeros([1]) };
    const x = tf.tensor4d([1, 0, 0, 0, 0, 0, 0, 0, 0], [1, 3, 3, 1]);
    expect([...stack.apply(params, x).dataSync()]).toEqual([1, 1, 0, 1, 1, 0, 0, 0, 0]);
  });

  it('gives height x width x last filters', () => {
    const stack = convStack({ shape: [4, 5, 3], filters: [2, 6] });
    const params = tensors(stack.init(createGenerator(1)));
    expect(stack.apply(params, tf.zeros([2, 4, 5, 3])).shape).toEqual([2, 120]);
    expect(stack.outputSize).toBe(120);
  });
});

describe('gru', () => {
  const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

  it('follows its equations (one input, one unit, by hand)', () => {
    const unit = gru(1, 1);
    const params = {
      kernel: tf.tensor2d([0.5, -1, 2], [1, 3]), // reset, update, candidate
      bias: tf.tensor1d([0.1, 0.2, 0.3]),
      recurrent: tf.tensor2d([1, 0.5, -0.5], [1, 3]),
      recurrentBias: tf.tensor1d([0, 0.1, 0.4]),
    };
    const [x, h] = [0.7, -0.3];
    const reset = sigmoid(0.5 * x + 0.1 + h);
    const update = sigmoid(-x + 0.2 + 0.5 * h + 0.1);
    const candidate = Math.tanh(2 * x + 0.3 + reset * (-0.5 * h + 0.4));
    const next = unit.step(params, tf.tensor2d([[x]]), tf.tensor2d([[h]])).dataSync()[0];
    expect(next).toBeCloseTo((1 - update) * candidate + update * h, 6);
  });

  it('unrolled gives the states of single steps, and forgets at the start of an episode', () => {
    const unit = gru(3, 4);
    const params = tensors(unit.init(createGenerator(2)));
    const xs = tf.randomNormal([2, 5, 3], 0, 1, 'float32', 1) as tf.Tensor3D;
    const isFirst = tf.tensor2d([0, 0, 1, 0, 0, 1, 0, 0, 0, 1], [2, 5]);
    const start = tf.randomNormal([2, 4], 0, 1, 'float32', 2) as tf.Tensor2D;
    const states = unit.unroll(params, xs, isFirst, start);
    let h = start;
    for (let t = 0; t < 5; t++) {
      const keep = tf.sub(1, tf.slice(isFirst, [0, t], [2, 1]));
      h = unit.step(params, tf.reshape(tf.slice(xs, [0, t, 0], [2, 1, 3]), [2, 3]) as tf.Tensor2D, tf.mul(h, keep));
      const unrolled = tf.slice(states, [0, t, 0], [2, 1, 4]).dataSync();
      h.dataSync().forEach((value, i) => {
        expect(unrolled[i]).toBeCloseTo(value, 6);
      });
    }
  });

  it('no gradient crosses the start of an episode', () => {
    const unit = gru(2, 3);
    const params = tensors(unit.init(createGenerator(3)));
    const isFirst = tf.tensor2d([0, 0, 1, 0], [1, 4]);
    const start = tf.zeros([1, 3]) as tf.Tensor2D;
    const lastState = (xs: tf.Tensor) =>
      tf.sum(tf.slice(unit.unroll(params, xs as tf.Tensor3D, isFirst, start), [0, 3, 0], [1, 1, 3]));
    const gradient = tf
      .grad(lastState)(tf.randomNormal([1, 4, 2], 0, 1, 'float32', 4))
      .dataSync();
    expect([...gradient.slice(0, 4)]).toEqual([0, 0, 0, 0]);
    expect(gradient.slice(4).every((value) => value !== 0)).toBe(true);
  });

  it('has the gradients of finite differences', () => {
    const unit = gru(2, 2);
    const arrays = unit.init(createGenerator(5));
    const xs = tf.randomNormal([1, 3, 2], 0, 1, 'float32', 6) as tf.Tensor3D;
    const loss = (params: TensorRecord) =>
      tf.sum(
        tf.square(unit.unroll(params, xs, tf.zeros([1, 3]) as tf.Tensor2D, tf.zeros([1, 2]) as tf.Tensor2D)),
      ) as tf.Scalar;
    for (const name of Object.keys(arrays)) {
      const at = (value: tf.Tensor) => loss({ ...tensors(arrays), [name]: value });
      const gradient = tf.grad(at)(tensors(arrays)[name]).dataSync();
      const { data, shape } = arrays[name];
      for (let i = 0; i < data.length; i++) {
        const moved = (by: number) =>
          at(
            tf.tensor(
              Float32Array.from(data as Float32Array, (v, j) => (i === j ? v + by : v)),
              [...shape],
            ),
          ).dataSync()[0];
        expect(gradient[i]).toBeCloseTo((moved(0.01) - moved(-0.01)) / 0.02, 2);
      }
    }
  });
});

describe('parameters that do not fit', () => {
  const [x, three] = [() => tf.ones([4, 2]) as tf.Tensor2D, () => tf.ones([3])];
  const dense = denseLayer({ inputSize: 2, outputSize: 3 });
  const conv = convStack({ shape: [3, 3, 1], filters: [2] });
  const unit = gru(2, 3);
  const memory = () => tensors(unit.init(createGenerator(1)));
  const image = () => tf.ones([1, 3, 3, 1]) as tf.Tensor4D;

  it.each<[what: string, call: () => unknown, message: RegExp]>([
    ['a missing bias', () => dense.apply({ kernel: tf.ones([2, 3]) }, x()), /denseLayer.apply: params\['bias'\]/],
    [
      'a bias of one number, which would be repeated',
      () => dense.apply({ kernel: tf.ones([2, 3]), bias: tf.ones([1]) }, x()),
      /denseLayer.apply: params\['bias'\]: expected the shape \[3\], got \[1\]/,
    ],
    [
      'a kernel of another layer',
      () => dense.apply({ kernel: tf.ones([3, 2]), bias: three() }, x()),
      /params\['kernel'\]: expected the shape \[2, 3\], got \[3, 2\]/,
    ],
    [
      'a kernel of another size',
      () => conv.apply({ '0/kernel': tf.ones([5, 5, 1, 2]), '0/bias': tf.ones([2]) }, image()),
      /convStack.apply: params\['0\/kernel'\]: expected the shape \[3, 3, 1, 2\], got \[5, 5, 1, 2\]/,
    ],
    [
      'gates of another number of units',
      () => unit.step({ ...memory(), recurrentBias: three() }, x(), tf.zeros([4, 3])),
      /gru.step: params\['recurrentBias'\]: expected the shape \[9\], got \[3\]/,
    ],
    [
      'a kernel for other inputs',
      () => linear({ 'a/kernel': tf.ones([5, 3]), 'a/bias': three() }, 'a', x()),
      /linear: params\['a\/kernel'\]: expected the shape \[2, any\], got \[5, 3\]/,
    ],
    [
      'a scale of one number',
      () => normLayer({ 'a/kernel': tf.ones([2, 3]), 'a/bias': three(), 'a/scale': tf.ones([1]) }, 'a', x()),
      /normLayer: params\['a\/scale'\]: expected the shape \[3\], got \[1\]/,
    ],
    [
      'blocks for other inputs',
      () => blockDense({ kernel: tf.ones([2, 3, 1]), bias: tf.ones([2]) }, x()),
      /blockDense: params\['kernel'\]: expected the shape \[2, 1, 1\], got \[2, 3, 1\]/,
    ],
    ['a scale of other features', () => rmsNorm(x(), three()), /rmsNorm: scale: expected a shape that spreads to/],
  ])('%s is refused by name', (_, call, message) => {
    expect(call).toThrow(message);
  });

  it('of a state-space model are refused in a step and in a sequence', () => {
    const model = rssm({ deter: 4, hidden: 2, stoch: 2, classes: 2, blocks: 2, actions: 3, tokens: 5 });
    const { 'dyngru/bias': _, ...lacking } = tensors(model.init(createGenerator(1)));
    const [state, noise] = [model.initial(1), () => tf.zeros([1, 2]) as tf.Tensor2D];
    const imagine = (action: tf.Tensor) => model.imagine(lacking, state, action as tf.Tensor2D, noise());
    expect(() => imagine(tf.zeros([1, 3]))).toThrow(/blockGru: params\['dyngru\/bias'\]/);
    expect(() => imagine(tf.zeros([1, 4]))).toThrow(/rssm.imagine: expected action of shape \[1, 3\], got \[1, 4\]/);
    const inputs = { tokens: tf.zeros([1, 1, 5]), actions: tf.zeros([1, 1, 3]), isFirst: tf.ones([1, 1]) } as never;
    const other = { ...lacking, 'dyngru/bias': tf.zeros([12]), 'obs0/scale': tf.ones([1]) };
    const observe = (start = state) => model.observe(other, start, inputs, tf.zeros([1, 1, 2]));
    expect(() => observe()).toThrow(/rssm.observe: params\['obs0\/scale'\]: expected the shape \[2\], got \[1\]/);
    expect(() => observe(model.initial(2))).toThrow(
      /rssm.observe: expected start.deter of shape \[1, 4\], got \[2, 4\]/,
    );
  });
});

describe('networks of users', () => {
  const inputs = { vector: [2] };
  const plain: Torso = {
    outputSize: 2,
    init: () => ({ scale: { data: Float32Array.of(1), shape: [1] } }),
    apply: (_, given) => given['vector'] as tf.Tensor2D,
  };
  const netOf = (torso: Partial<Torso>) =>
    actorCritic({ inputs, actions: 3, network: torsoBuilder({}, () => ({ ...plain, ...torso })) });

  it('are refused by name where their parameters are not finite, or their features not as many as they say', () => {
    expect(() => netOf({ outputSize: 0 })).toThrow(/torsoBuilder/);
    const broken = netOf({ init: () => ({ scale: { data: Float32Array.of(1, Number.NaN), shape: [2] } }) });
    expect(() => broken.init(createGenerator(1))).toThrow(/torsoBuilder: init: scale: .* index 1, got NaN/);
    const wide = netOf({ outputSize: 3 });
    const params = tensors(wide.init(createGenerator(1)));
    const act = () => wide.act(params, { vector: tf.ones([4, 2]) }, tf.ones([4, 3]));
    expect(act).toThrow(/torsoBuilder: apply: expected features of shape \[B=4, 3\], got \[4, 2\]/);
  });

  it.each<[name: string, build: () => unknown]>([
    ['denseLayer', () => denseLayer({ inputSize: 2, outputSize: 2, bias: false } as never)],
    ['convStack', () => convStack({ shape: [3, 3, 1], filters: [2], bias: false } as never)],
    [
      'actorCritic',
      () => actorCritic({ inputs, actions: 3, network: torsoBuilder({}, () => plain), bias: 1 } as never),
    ],
    ['moaNet', () => moaNet({ inputs, actions: 3, bias: false } as never)],
    ['stateVae', () => stateVae({ inputs, actions: 3, bias: false } as never)],
  ])('%s refuses an option that it does not have', (name, build) => {
    expect(build).toThrow(new RegExp(`${name}: expected known options only, got the unknown option "bias"`));
  });
});
