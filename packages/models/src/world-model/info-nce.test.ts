import { ensureBackend, tf, valueAndGradients } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { infoNce } from './info-nce';

beforeAll(ensureBackend);

/** Cosines by row: [1, 0, -1], [0, 1, 0], [0.6, 0.8, -0.6]. */
const PREDICTED = [2, 0, 0, 0.5, 3, 4];
const TARGETS = [7, 0, 0, 3, -1, 0];
const matrix = (numbers: readonly number[]) => tf.tensor2d([...numbers], [3, 2]);
const loss = (predicted: readonly number[], targets: readonly number[]) =>
  infoNce(matrix(predicted), matrix(targets), 0.5).dataSync()[0];

describe('infoNce', () => {
  it('is the cross-entropy of each row with its own target', () => {
    const { exp, log } = Math;
    const rows = [
      log(exp(2) + exp(0) + exp(-2)) - 2,
      log(exp(0) + exp(2) + exp(0)) - 2,
      log(exp(1.2) + exp(1.6) + exp(-1.2)) + 1.2,
    ];
    expect(loss(PREDICTED, TARGETS)).toBeCloseTo((rows[0] + rows[1] + rows[2]) / 3, 5);
  });

  it('is log B where nothing tells the targets apart, and near 0 where each is its own', () => {
    expect(loss([1, 2, 1, 2, 1, 2], [3, 1, 3, 1, 3, 1])).toBeCloseTo(Math.log(3), 5);
    const apart = infoNce(tf.eye(3), tf.eye(3), 0.05).dataSync()[0];
    expect(apart).toBeCloseTo(Math.log(1 + 2 * Math.exp(-20)), 6);
  });

  it('has the gradient of finite differences, in predictions and in targets', () => {
    const { gradients } = valueAndGradients(
      ({ predicted, targets }) => ({ loss: infoNce(predicted as tf.Tensor2D, targets as tf.Tensor2D, 0.5) }),
      { predicted: matrix(PREDICTED), targets: matrix(TARGETS) },
    );
    const H = 1e-2;
    const moved = (numbers: readonly number[], i: number, by: number) => numbers.map((x, j) => (i === j ? x + by : x));
    for (let i = 0; i < 6; i++) {
      const ofPrediction = (loss(moved(PREDICTED, i, H), TARGETS) - loss(moved(PREDICTED, i, -H), TARGETS)) / (2 * H);
      const ofTarget = (loss(PREDICTED, moved(TARGETS, i, H)) - loss(PREDICTED, moved(TARGETS, i, -H))) / (2 * H);
      expect(gradients['predicted'].dataSync()[i]).toBeCloseTo(ofPrediction, 3);
      expect(gradients['targets'].dataSync()[i]).toBeCloseTo(ofTarget, 3);
    }
  });
});
