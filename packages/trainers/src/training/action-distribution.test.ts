import { type ActionSpace, box, createGenerator, multiDiscrete } from '@coplay/core';
import { tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ActionDistribution, actionDistribution } from './action-distribution';

beforeAll(async () => {
  await useBackend('wasm');
});

const log = (...p: readonly number[]) => p.map(Math.log);

interface Case {
  readonly space: ActionSpace;
  readonly squash: boolean;
  /** One row of the actor's numbers. */
  readonly policy: readonly number[];
}

const cases: Readonly<Record<string, Case>> = {
  'discrete actions': { space: 3, squash: false, policy: log(0.2, 0.5, 0.3) },
  'two choices': { space: multiDiscrete([2, 3]), squash: false, policy: log(0.25, 0.75, 0.2, 0.5, 0.3) },
  'a box': { space: box({ shape: [2], low: -1, high: [1, 5] }), squash: false, policy: [0.4, -2, ...log(0.5, 2)] },
  'a squashed box': {
    space: box({ shape: [2], low: [-1, 2], high: [1, 5] }),
    squash: true,
    policy: [0.4, -1, ...log(0.5, 1.2)],
  },
};
const named = Object.entries(cases).map(([name, one]) => [name, one] as const);
const ROWS = 20_000;

function drawMany({ space, squash, policy }: Case) {
  const distribution = actionDistribution(space, { squash });
  const rows = Float32Array.from({ length: ROWS * policy.length }, (_, i) => policy[i % policy.length]);
  return { distribution, ...distribution.draw(rows, ROWS, createGenerator(4)) };
}

/** So many equal rows of the actor's numbers. */
const policyRows = ({ policy }: Case, rows: number) => tf.tile(tf.tensor2d([[...policy]]), [rows, 1]) as tf.Tensor2D;

const actionRows = ({ action }: ActionDistribution, actions: Float32Array | Int32Array, rows: number) =>
  tf.tensor(actions, [rows, ...action.shape], action.dtype);

const entropyOf = (one: Case) => {
  const distribution = actionDistribution(one.space, one);
  return distribution.entropy(policyRows(one, 1), tf.ones([1, one.policy.length])).dataSync()[0];
};

describe('the distribution over', () => {
  it.each(named)('%s draws with the log-probabilities that it learns with', (_, one) => {
    const { distribution, actions, raw, logProbs } = drawMany(one);
    const taken = actionRows(distribution, raw ?? actions, ROWS);
    const again = distribution.logProb(policyRows(one, ROWS), taken).dataSync();
    for (let row = 0; row < ROWS; row++) {
      const scale = Math.max(1, Math.abs(logProbs[row]));
      if (Math.abs(again[row] - logProbs[row]) > 1e-4 * scale) expect(again[row], `row ${row}`).toBe(logProbs[row]);
    }
  });

  it.each(named)('%s has the entropy of its samples: the mean of -log p', (_, one) => {
    const { logProbs } = drawMany(one);
    const mean = -logProbs.reduce((sum, value) => sum + value, 0) / ROWS;
    const deviation = Math.sqrt(logProbs.reduce((sum, value) => sum + (value + mean) ** 2, 0) / ROWS);
    expect(Math.abs(entropyOf(one) - mean)).toBeLessThan((4 * deviation) / Math.sqrt(ROWS));
  });

  it('two choices is the product of both: probabilities by hand', () => {
    const one = cases['two choices'];
    const distribution = actionDistribution(one.space, one);
    const taken = actionRows(distribution, Int32Array.of(0, 1, 1, 2), 2);
    const logProbs = distribution.logProb(policyRows(one, 2), taken).dataSync();
    expect(logProbs[0]).toBeCloseTo(Math.log(0.25 * 0.5), 5);
    expect(logProbs[1]).toBeCloseTo(Math.log(0.75 * 0.3), 5);
    const entropies = [
      [0.25, 0.75],
      [0.2, 0.5, 0.3],
    ].map((p) => -p.reduce((sum, q) => sum + q * Math.log(q), 0));
    expect(entropyOf(one)).toBeCloseTo(entropies[0] + entropies[1], 5);
    expect([...distribution.likeliest(Float32Array.from([...one.policy, ...one.policy]), 2)]).toEqual([1, 1, 1, 1]);
    const { actions } = drawMany(one);
    let both = 0;
    for (let row = 0; row < ROWS; row++) if (actions[2 * row] === 1 && actions[2 * row + 1] === 0) both++;
    expect(Math.abs(both / ROWS - 0.15)).toBeLessThan(0.01);
  });

  it('a box is normal before it is clipped: closed forms', () => {
    const one = cases['a box'];
    const distribution = actionDistribution(one.space, one);
    const taken = actionRows(distribution, Float32Array.of(0.9, -6), 1);
    // Both samples are one standard deviation (0.5), and two (2), off their means 0.4 and -2.
    const expected = -(1 + 4) / 2 - Math.log(0.5 * 2) - Math.log(2 * Math.PI);
    expect(distribution.logProb(policyRows(one, 1), taken).dataSync()[0]).toBeCloseTo(expected, 5);
    expect(entropyOf(one)).toBeCloseTo(Math.log(0.5 * 2) + Math.log(2 * Math.PI * Math.E), 5);
    const { actions, raw } = drawMany(one);
    const column = (values: ArrayLike<number>, i: number) =>
      Array.from({ length: ROWS }, (__, row) => values[2 * row + i]);
    expect(Math.max(...column(actions, 0))).toBe(1);
    expect(Math.min(...column(actions, 1))).toBe(-1);
    expect(Math.min(...column(raw!, 1))).toBeLessThan(-6);
    expect([...distribution.likeliest(Float32Array.from(one.policy), 1)]).toEqual([Math.fround(0.4), -1]);
  });

  it('a squashed box lies within its bounds, with the density of the action itself', () => {
    const one = cases['a squashed box'];
    const { distribution, actions, logProbs } = drawMany(one);
    const normal = (u: number, mean: number, std: number) =>
      Math.exp(-(((u - mean) / std) ** 2) / 2) / (std * Math.sqrt(2 * Math.PI));
    for (let row = 0; row < 200; row++) {
      const [a, b] = [actions[2 * row], (actions[2 * row + 1] - 3.5) / 1.5]; // in (-1, 1)
      expect(Math.abs(a) <= 1 && Math.abs(b) <= 1).toBe(true);
      if (Math.max(Math.abs(a), Math.abs(b)) > 0.99) continue; // digits are lost in 1 - a^2
      const density =
        (normal(Math.atanh(a), 0.4, 0.5) / (1 - a * a)) * (normal(Math.atanh(b), -1, 1.2) / (1 - b * b) / 1.5);
      expect(Math.abs(logProbs[row] - Math.log(density))).toBeLessThan(1e-3);
    }
    const [first, second] = distribution.likeliest(Float32Array.from(one.policy), 1);
    expect(first).toBeCloseTo(Math.tanh(0.4), 6);
    expect(second).toBeCloseTo(3.5 + 1.5 * Math.tanh(-1), 6);
  });

  it.each(named)('%s has gradients of log-probability and entropy that agree with finite differences', (_, one) => {
    const { distribution, actions, raw } = drawMany(one);
    const size = one.policy.length;
    const w = (raw ?? actions).length / ROWS;
    const taken = actionRows(distribution, (raw ?? actions).slice(0, w), 1);
    const functions = [
      (policy: tf.Tensor) => distribution.logProb(policy as tf.Tensor2D, taken),
      (policy: tf.Tensor) => distribution.entropy(policy as tf.Tensor2D, tf.ones([1, size])),
    ];
    for (const f of functions) {
      const gradient = tf
        .grad((policy) => tf.sum(f(policy)))(policyRows(one, 1))
        .dataSync();
      one.policy.forEach((value, i) => {
        const h = 0.01;
        const at = (x: number) => f(tf.tensor2d([one.policy.map((old, k) => (k === i ? x : old))])).dataSync()[0];
        expect(gradient[i], `number ${i}`).toBeCloseTo((at(value + h) - at(value - h)) / (2 * h), 2);
      });
    }
  });
});
