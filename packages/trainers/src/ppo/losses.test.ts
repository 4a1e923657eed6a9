import { tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { clippedSurrogate, policyDiagnostics, policyTargetLoss, valueLoss, weightedMean } from './algorithm';

// Five steps worked out with a pocket calculator from the formulas: ratios exp(logRatio), normalised advantages (ddof
// 1).
const logRatios = [0.3, -0.3, 0.1, 0.05, -0.6];
const advantages = [1.162319, 0.050282, 0.331599, -1.591933, 0.047733];
const returns = [2.802847, 1.89585, 2, 0.504107, 1.594];
const oldValues = [0.5, 0.4, 0.3, 0.2, 0.1];
const values = [0.9, 0.1, 0.5, 0.25, 0];

const vector = (x: readonly number[]) => tf.tensor1d([...x]);
const ones = () => tf.ones([5]) as tf.Tensor1D;
const policy = () => ({
  logProbs: vector(logRatios),
  oldLogProbs: tf.zeros([5]) as tf.Tensor1D,
  advantages: vector(advantages),
  weights: ones(),
});
const critic = (weights = ones()) => ({
  values: vector(values),
  oldValues: vector(oldValues),
  returns: vector(returns),
  weights,
});

beforeAll(async () => {
  await useBackend('cpu');
});

describe('clippedSurrogate', () => {
  it('is -mean(min(r A, clip(r) A))', () => {
    expect(clippedSurrogate(policy(), 0.2).dataSync()[0]).toBeCloseTo(-0.03023, 5);
  });

  it('has the gradient of finite differences', () => {
    const loss = (x: readonly number[]) => clippedSurrogate({ ...policy(), logProbs: vector(x) }, 0.2).dataSync()[0];
    const gradient = tf.grad((x) => clippedSurrogate({ ...policy(), logProbs: x as tf.Tensor1D }, 0.2))(
      vector(logRatios),
    );
    const step = 1e-2;
    logRatios.forEach((_, i) => {
      const moved = (by: number) => logRatios.map((value, j) => (i === j ? value + by : value));
      const slope = (loss(moved(step)) - loss(moved(-step))) / (2 * step);
      expect(gradient.dataSync()[i]).toBeCloseTo(slope, 3);
    });
  });

  it('leaves rows of weight 0 out, for any content', () => {
    const padded = clippedSurrogate(
      {
        logProbs: vector([...logRatios, 30]),
        oldLogProbs: tf.zeros([6]),
        advantages: vector([...advantages, 1e6]),
        weights: vector([1, 1, 1, 1, 1, 0]),
      },
      0.2,
    );
    expect(padded.dataSync()[0]).toBeCloseTo(-0.03023, 5);
  });

  it('names the argument whose shape is wrong', () => {
    expect(() => clippedSurrogate({ ...policy(), weights: tf.ones([4]) }, 0.2)).toThrow(
      /clippedSurrogate.*weights.*B=5.*\[4\]/,
    );
  });
});

describe('policyDiagnostics', () => {
  it('measures k1, k3 and the clipped share', () => {
    const { approxKl, approxKl1, clipFraction } = policyDiagnostics(policy(), 0.2);
    expect(approxKl1.dataSync()[0]).toBeCloseTo(0.09, 6);
    expect(approxKl.dataSync()[0]).toBeCloseTo(0.049186, 5);
    expect(clipFraction.dataSync()[0]).toBeCloseTo(0.6, 6);
  });
});

describe('valueLoss', () => {
  it('is half the mean squared error, with and without the clip', () => {
    expect(valueLoss(critic(), { clip: 0.2, huberDelta: false }).dataSync()[0]).toBeCloseTo(1.250245, 5);
    expect(valueLoss(critic(), { clip: false, huberDelta: false }).dataSync()[0]).toBeCloseTo(1.170131, 5);
  });

  it('follows Huber: x^2 / 2 up to delta, then delta (|x| - delta / 2)', () => {
    const at = (error: number) =>
      valueLoss(
        { values: vector([error]), oldValues: vector([0]), returns: vector([0]), weights: vector([1]) },
        { clip: false, huberDelta: 10 },
      ).dataSync()[0];
    expect([at(1), at(10), at(20), at(-20)]).toEqual([0.5, 50, 150, 150]);
  });
});

describe('policyTargetLoss', () => {
  const logProbs = (rows: readonly number[]) => tf.tensor2d(rows.map(Math.log), [3, 2]);
  const policies = [0.5, 0.5, 0.25, 0.75, 0.1, 0.9];

  it('is the weighted mean cross-entropy of the rows that have a target', () => {
    const targets = tf.tensor2d([1, 0, 0.5, 0.5, 0, 0], [3, 2]);
    const loss = policyTargetLoss(logProbs(policies), targets, vector([1, 2, 5]));
    // -ln 0.5 with weight 1, -(ln 0.25 + ln 0.75) / 2 = 0.836988 with weight 2, the third row has none.
    expect(loss.dataSync()[0]).toBeCloseTo((Math.LN2 + 2 * 0.836988) / 3, 5);
  });

  it('is 0 where no row has one', () => {
    expect(policyTargetLoss(logProbs(policies), tf.zeros([3, 2]), vector([1, 2, 5])).dataSync()[0]).toBeCloseTo(0, 6);
  });
});

describe('weightedMean', () => {
  it('divides by the rows that count (losses 1, 2, 3 and two padded rows: 2, not 1.2)', () => {
    expect(weightedMean(vector([1, 2, 3, 9, 9]), vector([1, 1, 1, 0, 0])).dataSync()[0]).toBeCloseTo(2, 6);
  });

  it('is 0 where no row counts', () => {
    expect(weightedMean(vector([1]), vector([0])).dataSync()[0]).toBe(0);
  });
});
