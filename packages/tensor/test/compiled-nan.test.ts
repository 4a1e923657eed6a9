import { ndarray } from '@coplay/core';
import { tf } from '@coplay/tensor';
import { categoricalEntropy, maskedLogProbs } from '@coplay/tensor/distributions';
import { describe, expect, it } from 'vitest';
import { expectParity, floats, run, withGradients } from './compiled';

type Unary = (x: tf.Tensor) => tf.Tensor;
const image = (x: tf.Tensor) => tf.reshape(x, [1, 3, 4, 1]) as tf.Tensor4D;
const volume = (x: tf.Tensor) => tf.reshape(x, [1, 1, 3, 4, 1]) as tf.Tensor5D;
const dense = (activation: 'relu' | 'relu6' | 'elu' | 'sigmoid' | 'leakyrelu') => (x: tf.Tensor) =>
  tf.fused.matMul({ a: x as tf.Tensor2D, b: tf.ones([4, 3]), activation });

/** With a gradient, which is compared too. */
const SMOOTH: Readonly<Record<string, Unary>> = {
  abs: tf.abs,
  avgPool: (x) => tf.avgPool(image(x), 2, 1, 'same'),
  avgPool3d: (x) => tf.avgPool3d(volume(x), 2, 1, 'same'),
  clipByValue: (x) => tf.clipByValue(x, -1, 1),
  'clipByValue from 0': (x) => tf.clipByValue(x, 0, Infinity),
  conv2d: (x) => tf.conv2d(image(x), tf.ones([2, 2, 1, 2]), 1, 'same'),
  cumsum: (x) => tf.cumsum(x, 1),
  elu: tf.elu,
  exp: tf.exp,
  gather: (x) => tf.gather(x, tf.tensor1d([2, 0], 'int32'), 1),
  leakyRelu: (x) => tf.leakyRelu(x, 0.1),
  logSoftmax: (x) => tf.logSoftmax(x),
  logSumExp: (x) => tf.logSumExp(x, 1),
  'max of columns': (x) => tf.max(x, 0),
  'max of rows': (x) => tf.max(x, 1),
  'max of all': (x) => tf.max(x),
  mean: (x) => tf.mean(x, 1),
  'min of columns': (x) => tf.min(x, 0),
  'min of rows, kept': (x) => tf.min(x, 1, true),
  'min of all': (x) => tf.min(x),
  mirrorPad: (x) =>
    tf.mirrorPad(
      x,
      [
        [1, 1],
        [1, 1],
      ],
      'reflect',
    ),
  moments: (x) => tf.moments(x, 1).variance,
  norm: (x) => tf.norm(x, 2, 1),
  prelu: (x) => tf.prelu(x, tf.scalar(0.3)),
  prod: (x) => tf.prod(x, 1),
  relu: tf.relu,
  relu6: tf.relu6,
  selu: tf.selu,
  sigmoid: tf.sigmoid,
  sign: tf.sign,
  softmax: (x) => tf.softmax(x),
  softplus: tf.softplus,
  sqrt: tf.sqrt,
  square: tf.square,
  step: (x) => tf.step(x),
  sum: (x) => tf.sum(x, 1),
  tanh: tf.tanh,
  where: (x) => tf.where(tf.greater(x, 0), x, tf.square(x)),
  'fused relu': dense('relu'),
  'fused relu6': dense('relu6'),
  'fused elu': dense('elu'),
  'fused sigmoid': dense('sigmoid'),
  'fused leakyRelu': dense('leakyrelu'),
};

const FORWARD: Readonly<Record<string, Unary>> = {
  all: (x) => tf.all(tf.cast(x, 'bool')),
  any: (x) => tf.any(tf.cast(x, 'bool')),
  argMax: (x) => tf.argMax(x, 1),
  'argMax of columns': (x) => tf.argMax(x, 0),
  argMin: (x) => tf.argMin(x, 1),
  'argMin of columns': (x) => tf.argMin(x, 0),
  'cast to bool': (x) => tf.cast(x, 'bool'),
  'cast to int32': (x) => tf.cast(x, 'int32'),
  ceil: tf.ceil,
  cumprod: (x) => tf.cumprod(x, 1),
  floor: tf.floor,
  isFinite: tf.isFinite,
  isInf: tf.isInf,
  isNaN: tf.isNaN,
  matMul: (x) => tf.matMul(x, x, false, true),
  'norm, largest': (x) => tf.norm(x, Infinity, 1),
  'norm, smallest': (x) => tf.norm(x, -Infinity, 1),
  round: tf.round,
  scatterND: (x) => tf.scatterND(tf.tensor2d([[1], [0], [1]], [3, 1], 'int32'), x, [4, 4]),
  'step to 0.3': (x) => tf.step(x, 0.3),
};

const BINARY: Readonly<Record<string, (a: tf.Tensor, b: tf.Tensor) => tf.Tensor>> = {
  atan2: tf.atan2,
  div: tf.div,
  divNoNan: tf.divNoNan,
  equal: tf.equal,
  floorDiv: tf.floorDiv,
  greater: tf.greater,
  greaterEqual: tf.greaterEqual,
  less: tf.less,
  lessEqual: tf.lessEqual,
  logicalXor: (a, b) => tf.logicalXor(tf.cast(a, 'bool'), tf.cast(b, 'bool')),
  maximum: tf.maximum,
  'maximum with a number': (a) => tf.maximum(a, 0),
  minimum: tf.minimum,
  'minimum of a number': (_, b) => tf.minimum(0, b),
  mod: tf.mod,
  notEqual: tf.notEqual,
  pow: tf.pow,
  prelu: tf.prelu,
  squaredDifference: tf.squaredDifference,
};

const base = Array.from({ length: 12 }, (_, i) => 2 * Math.sin(1.3 * i + 0.7));
const other = Array.from({ length: 12 }, (_, i) => Math.cos(i));

/** NaN at each place, at several, and next to infinities. */
const PLACES: readonly (readonly number[])[] = [
  ...base.map((_, place) => base.with(place, Number.NaN)),
  base.with(1, Number.NaN).with(5, Number.NaN).with(6, Number.NaN),
  base.with(2, Infinity).with(3, -Infinity).with(7, Number.NaN),
];

/** A function of all of `PLACES` at once, so that it's compiled once. */
const everywhere =
  (f: Unary): ((...x: tf.Tensor[]) => tf.Tensor[]) =>
  (...x) =>
    x.flatMap((one) => f(one));
const args = (all: readonly (readonly number[])[]) => all.map((values) => floats(values, [3, 4]));

describe('NaN at every place, compiled against eager on cpu', () => {
  it.each(Object.entries(SMOOTH))('%s', async (_, f) => {
    const both = withGradients(f);
    await expectParity({ f: (...x) => x.flatMap((one) => both(one) as tf.Tensor[]), args: args(PLACES) });
  });

  it.each(Object.entries(FORWARD))('%s, forward', async (_, f) => {
    await expectParity({ f: everywhere(f), args: args(PLACES) });
  });

  it.each(Object.entries(BINARY))('%s of two', async (_, f) => {
    const fixed = () => tf.tensor2d(other, [3, 4]);
    await expectParity({
      f: (...x) => x.flatMap((one) => [f(one, fixed()), f(fixed(), one), f(one, tf.reverse(one))]),
      args: args(PLACES),
    });
  });

  it('the worst error is NaN, not the largest of the rest', async () => {
    const error = ndarray(Float32Array.of(0.5, Number.NaN, 0.969), [3]);
    const [worst] = await run({ f: (x) => tf.max(tf.abs(x)), args: [error] }, 'onnx');
    expect(worst.data[0]).toBeNaN();
  });
});

describe('masked log-probabilities, compiled', () => {
  // Derived in distributions.test.ts.
  it.each([
    { logits: [-2e9, 5, 5], mask: [1, 0, 0], expected: [1, 0, 0] },
    { logits: [-2e9, -2e9, 3e9], mask: [1, 1, 0], expected: [0.5, 0.5, 0] },
    { logits: [-3.4e38, 3.4e38, -3.4e38], mask: [1, 1, 0], expected: [0, 1, 0] },
  ])('illegal actions have probability 0: logits $logits, mask $mask', async ({ logits, mask, expected }) => {
    const example = {
      f: (x: tf.Tensor, m: tf.Tensor) => [
        tf.exp(maskedLogProbs(x, m)),
        categoricalEntropy(maskedLogProbs(x, m), m),
        tf.grad((y) => tf.sum(categoricalEntropy(maskedLogProbs(y, m), m)))(x),
      ],
      args: [floats(logits, [1, 3]), floats(mask, [1, 3])],
    };
    const [probabilities, , gradient] = await expectParity(example);
    expect([...probabilities.data]).toEqual(expected);
    expect([...gradient.data].every(Number.isFinite)).toBe(true);
  });
});
