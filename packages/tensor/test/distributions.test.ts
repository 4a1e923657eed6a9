import { createGenerator, type Generator } from '@coplay/core';
import { tf, useBackend } from '@coplay/tensor';
import {
  argmaxRows,
  categoricalEntropy,
  categoricalKl,
  logProbOf,
  maskedLogProbs,
  sampleCategorical,
} from '@coplay/tensor/distributions';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadableBackends } from './backends';
import { expectNumbers } from './numbers';

const numbers = (x: tf.Tensor): number[] => [...x.dataSync()];
const LN3 = Math.log(3);

describe.each(await loadableBackends())('categorical on %s', (backend) => {
  beforeEach(async () => {
    await useBackend(backend);
    tf.engine().startScope();
  });
  afterEach(() => tf.engine().endScope());

  // Logits 0 and ln 3 are probabilities 1/4 and 3/4.
  const quarter = () => tf.tensor2d([[0, LN3, 7]]);
  const firstTwo = () => tf.tensor2d([[1, 1, 0]]);

  it('log-probabilities are those over the legal actions alone', () => {
    const [a, b, illegal] = numbers(tf.exp(maskedLogProbs(quarter(), firstTwo())));
    expectNumbers([a, b], [0.25, 0.75]);
    expect(illegal).toBe(0);
    const everything = maskedLogProbs(tf.tensor2d([[0, LN3]]), tf.ones([1, 2]));
    expectNumbers(numbers(everything), [Math.log(0.25), Math.log(0.75)]);
  });

  it('of a single action the log-probability is 0, and that of none too', () => {
    const logProbs = maskedLogProbs(tf.tensor2d([[3], [5]]), tf.ones([2, 1]));
    expectNumbers(numbers(logProbOf(logProbs, tf.tensor1d([0, -1], 'int32'))), [0, 0]);
    expectNumbers(numbers(logProbOf(tf.tensor2d([[-2], [-3]]), tf.tensor1d([0, -1], 'int32'))), [-2, 0]);
  });

  it('entropy is that over the legal actions alone', () => {
    // -(1/4 ln 1/4 + 3/4 ln 3/4) = 0.5623351
    expectNumbers(numbers(categoricalEntropy(maskedLogProbs(quarter(), firstTwo()), firstTwo())), [0.5623351]);
    const uniform = maskedLogProbs(
      tf.zeros([2, 4]),
      tf.tensor2d([
        [1, 1, 1, 1],
        [1, 0, 1, 0],
      ]),
    );
    expectNumbers(
      numbers(
        categoricalEntropy(
          uniform,
          tf.tensor2d([
            [1, 1, 1, 1],
            [1, 0, 1, 0],
          ]),
        ),
      ),
      [Math.log(4), Math.log(2)],
    );
  });

  it('one legal action: entropy 0, log-probability 0, gradients 0, for any logits', () => {
    for (const logits of [
      [3, -2, 1],
      [1e4, -1e4, 0],
      [-1e4, 1e4, 1e4],
    ]) {
      const mask = tf.tensor2d([[1, 0, 0]]);
      const entropy = (x: tf.Tensor) => tf.sum(categoricalEntropy(maskedLogProbs(x, mask), mask));
      const logProb = (x: tf.Tensor) => tf.sum(logProbOf(maskedLogProbs(x, mask), tf.tensor1d([0], 'int32')));
      const x = tf.tensor2d([logits]);
      for (const f of [entropy, logProb]) {
        expect(Math.abs(numbers(f(x))[0])).toBe(0);
        expect(numbers(tf.grad(f)(x)).map(Math.abs)).toEqual([0, 0, 0]);
      }
    }
  });

  it('stays finite for logits of +-1e4, forward and backward', () => {
    const mask = tf.tensor2d([
      [1, 1, 1, 0],
      [1, 1, 0, 0],
      [0, 1, 1, 1],
    ]);
    const x = tf.tensor2d([
      [1e4, -1e4, 0, 1e4],
      [-1e4, -1e4, 1e4, 1e4],
      [1e4, 1e4, 1e4, -1e4],
    ]);
    const actions = tf.tensor1d([1, 0, 3], 'int32');
    const loss = (y: tf.Tensor) => {
      const logProbs = maskedLogProbs(y, mask);
      return tf.add(tf.sum(logProbOf(logProbs, actions)), tf.sum(categoricalEntropy(logProbs, mask)));
    };
    expect(numbers(maskedLogProbs(x, mask)).every(Number.isFinite)).toBe(true);
    expect(numbers(loss(x)).every(Number.isFinite)).toBe(true);
    expect(numbers(tf.grad(loss)(x)).every(Number.isFinite)).toBe(true);
    // Row 0 puts everything on action 0; row 1 is even over two actions; row 2 over two of three.
    const entropies = numbers(categoricalEntropy(maskedLogProbs(x, mask), mask));
    expectNumbers(entropies, [0, Math.log(2), Math.log(2)]);
  });

  // The largest finite float32 is 3.4028e38.
  const EXTREME = [
    { logits: [-2e9, 5, 5], mask: [1, 0, 0], expected: [1, 0, 0] },
    { logits: [-2e9, -2e9, 3e9], mask: [1, 1, 0], expected: [0.5, 0.5, 0] },
    { logits: [-3e38, 3.4e38, 3.4e38], mask: [1, 0, 0], expected: [1, 0, 0] },
    { logits: [-3.4e38, 3.4e38, -3.4e38], mask: [1, 1, 0], expected: [0, 1, 0] },
    { logits: [0, -2e9, 1], mask: [1, 1, 0], expected: [1, 0, 0] },
  ];

  it.each(EXTREME)('illegal actions have probability 0: logits $logits, mask $mask', ({ logits, mask, expected }) => {
    const masks = tf.tensor2d([mask]);
    const logProbs = (x: tf.Tensor) => maskedLogProbs(x, masks);
    const x = tf.tensor2d([logits]);
    expectNumbers(numbers(tf.exp(logProbs(x))), expected);
    expect(mask[argmaxRows(logProbs(x).dataSync() as Float32Array, 1, 3)[0]]).toBe(1);
    expect(mask[sampleCategorical(logProbs(x).dataSync() as Float32Array, 1, 3, createGenerator(1))[0]]).toBe(1);
    const entropy = (y: tf.Tensor) => tf.sum(categoricalEntropy(logProbs(y), masks));
    const ways = expected.filter((p) => p > 0).length;
    expectNumbers(numbers(entropy(x)), [Math.log(ways)]);
    const taken = (y: tf.Tensor) => tf.sum(logProbOf(logProbs(y), tf.tensor1d([0], 'int32')));
    for (const f of [entropy, taken]) expect(numbers(tf.grad(f)(x)).every(Number.isFinite)).toBe(true);
  });

  it('a row without any legal action (padding) is finite, with entropy 0 and no gradient', () => {
    const mask = tf.zeros([1, 3]);
    const entropy = (x: tf.Tensor) => tf.sum(categoricalEntropy(maskedLogProbs(x, mask), mask));
    const x = tf.tensor2d([[1, 2, 3]]);
    expect(numbers(maskedLogProbs(x, mask)).every(Number.isFinite)).toBe(true);
    expect(Math.abs(numbers(entropy(x))[0])).toBe(0);
    expect(numbers(tf.grad(entropy)(x)).map(Math.abs)).toEqual([0, 0, 0]);
  });

  it('gradient of the entropy by its formula -p (log p + H)', () => {
    // p = (1/4, 3/4), H = 0.5623351: -1/4 (-1.3862944 + H) = 0.2059898, and its negative
    const entropy = (x: tf.Tensor) => tf.sum(categoricalEntropy(maskedLogProbs(x, firstTwo()), firstTwo()));
    expectNumbers(numbers(tf.grad(entropy)(quarter())), [0.2059898, -0.2059898, 0]);
  });

  it('gradient of a log-probability is onehot - p', () => {
    const f = (x: tf.Tensor) => tf.sum(logProbOf(maskedLogProbs(x, firstTwo()), tf.tensor1d([0], 'int32')));
    expectNumbers(numbers(tf.grad(f)(quarter())), [0.75, -0.75, 0]);
  });

  it('logProbOf: any leading dimensions; -1 is no action', () => {
    const logProbs = tf.tensor3d([
      [
        [-1, -2],
        [-3, -4],
      ],
      [
        [-5, -6],
        [-7, -8],
      ],
    ]);
    const actions = tf.tensor2d(
      [
        [1, 0],
        [-1, 1],
      ],
      [2, 2],
      'int32',
    );
    expect(numbers(logProbOf(logProbs, actions)).map((x) => x + 0)).toEqual([-2, -3, 0, -8]);
  });

  it('Kullback-Leibler divergence', () => {
    // 1/4 ln 1/2 + 3/4 ln 3/2 = 0.1308120
    const p = tf.log(tf.tensor2d([[0.25, 0.75]]));
    const q = tf.log(tf.tensor2d([[0.5, 0.5]]));
    expectNumbers(numbers(categoricalKl(p, q)), [0.130812]);
    expectNumbers(numbers(categoricalKl(p, p)), [0]);
    const mask = firstTwo();
    const masked = categoricalKl(maskedLogProbs(quarter(), mask), maskedLogProbs(tf.zeros([1, 3]), mask));
    expectNumbers(numbers(masked), [0.130812]);
  });

  it('refuses shapes that do not agree', () => {
    expect(() => maskedLogProbs(tf.zeros([2, 3]), tf.zeros([2, 2]))).toThrow(
      /maskedLogProbs: expected mask of shape \[2,3\], got \[2,2\]/,
    );
    expect(() => categoricalEntropy(tf.zeros([2, 3]), tf.zeros([3]))).toThrow(/categoricalEntropy: expected mask/);
    expect(() => categoricalKl(tf.zeros([2, 3]), tf.zeros([3]))).toThrow(/categoricalKl: expected logQ/);
    expect(() => logProbOf(tf.zeros([2, 3]), tf.zeros([2]))).toThrow(/int32, got \[2\] float32/);
  });
});

describe('sampleCategorical', () => {
  const constant = (value: number) => ({ uniform: () => value }) as Generator;
  const logs = (...probabilities: number[]) => Float32Array.from(probabilities, Math.log);

  it('inverts the cumulative distribution', () => {
    const draw = (u: number) => sampleCategorical(logs(0.5, 0, 0.25, 0.25), 1, 4, constant(u))[0];
    expect([0, 0.49, 0.51, 0.74, 0.76, 1 - 2 ** -53].map(draw)).toEqual([0, 0, 2, 2, 3, 3]);
  });

  it('never draws an action of probability 0, also at the ends', () => {
    const edges = logs(0, 0.3, 0, 0.7, 0);
    expect(sampleCategorical(edges, 1, 5, constant(0))).toEqual(Int32Array.of(1));
    expect(sampleCategorical(edges, 1, 5, constant(1 - 2 ** -53))).toEqual(Int32Array.of(3));
    const single = Float32Array.of(-1e9, -1e9, 0);
    for (const u of [0, 0.5, 1 - 2 ** -53])
      expect(sampleCategorical(single, 1, 3, constant(u))).toEqual(Int32Array.of(2));
  });

  it('has the right frequencies, row by row', () => {
    const rows = 20_000;
    const logProbs = new Float32Array(2 * rows * 3);
    for (let row = 0; row < 2 * rows; row++)
      logProbs.set(row % 2 === 0 ? logs(0.1, 0.2, 0.7) : logs(0.6, 0, 0.4), 3 * row);
    const actions = sampleCategorical(logProbs, 2 * rows, 3, createGenerator(5));
    const shares = [0, 1].map((parity) =>
      [0, 1, 2].map((k) => actions.filter((a, row) => row % 2 === parity && a === k).length / rows),
    );
    // Four standard deviations of a share are at most 4 sqrt(0.25 / 20,000) = 0.014.
    for (const [row, expected] of [
      [0.1, 0.2, 0.7],
      [0.6, 0, 0.4],
    ].entries()) {
      for (const [k, share] of expected.entries()) expect(Math.abs(shares[row][k] - share)).toBeLessThan(0.014);
    }
  });

  it('uses one number of the generator per row, and repeats for a seed', () => {
    const logProbs = logs(0.5, 0.5, 0.5, 0.5, 0.5, 0.5);
    const generator = createGenerator(1);
    sampleCategorical(logProbs, 3, 2, generator);
    const reference = createGenerator(1);
    for (let i = 0; i < 3; i++) reference.uniform();
    expect(generator.state()).toEqual(reference.state());
    expect(sampleCategorical(logProbs, 3, 2, createGenerator(9))).toEqual(
      sampleCategorical(logProbs, 3, 2, createGenerator(9)),
    );
  });

  it('refuses NaN, and the wrong number of values', () => {
    const generator = createGenerator(1);
    expect(() => sampleCategorical(Float32Array.of(0, 0, Number.NaN, 0), 2, 2, generator)).toThrow(
      /total probability of NaN in row 1/,
    );
    expect(() => sampleCategorical(new Float32Array(5), 2, 2, generator)).toThrow(/2 x 2 = 4 numbers, got 5/);
  });

  it('argmaxRows: the first of equals', () => {
    expect(argmaxRows(Float32Array.of(1, 3, 3, -5, -7, -5), 2, 3)).toEqual(Int32Array.of(1, 0));
    expect(() => argmaxRows(new Float32Array(5), 2, 2)).toThrow(/argmaxRows: expected 2 x 2 = 4 numbers/);
  });
});
