import { createGenerator } from '@coplay/core';
import { mlp } from '@coplay/models';
import { type TensorRecord, tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { policyValueNet } from './net';
import { hopLoss } from './step';

beforeAll(async () => {
  await useBackend('cpu');
});

// Without a hidden layer the logits are x P and the value is x v.
const net = policyValueNet({ vector: [2] }, 3, mlp({ hidden: [] }));
const params = () => ({
  'policy/kernel': tf.tensor2d([0, Math.log(3), 5, 0, 0, 5], [2, 3]),
  'policy/bias': tf.zeros([3]),
  'value/kernel': tf.tensor2d([2, -1], [2, 1]),
  'value/bias': tf.zeros([1]),
});
const inputs = (): TensorRecord => ({
  'in/vector': tf.tensor2d([1, 0, 0, 1], [2, 2]),
  mask: tf.tensor2d([1, 1, 0, 1, 1, 0], [2, 3]),
  policy: tf.tensor2d([0.5, 0.5, 0, 1, 0, 0], [2, 3]),
  returns: tf.tensor1d([3, 1]),
});

describe('hopLoss', () => {
  it('has the names of its network', () => {
    expect(Object.keys(net.init(createGenerator(1))).sort()).toEqual(Object.keys(params()).sort());
  });

  it('is the cross-entropy with the search over legal actions, and the squared error of the value', () => {
    const { loss, metrics } = hopLoss(net, params(), inputs(), 0.5);
    // Row 1: p = (1/4, 3/4), row 2: (1/2, 1/2).
    const policyLoss = -(0.5 * Math.log(1 / 4) + 0.5 * Math.log(3 / 4) + Math.log(1 / 2)) / 2;
    const valueLoss = ((2 - 3) ** 2 + (-1 - 1) ** 2) / 2;
    expect(metrics.policyLoss.dataSync()[0]).toBeCloseTo(policyLoss, 5);
    expect(metrics.valueLoss.dataSync()[0]).toBeCloseTo(valueLoss, 5);
    expect(loss.dataSync()[0]).toBeCloseTo(policyLoss + 0.5 * valueLoss, 5);
    expect(metrics.targetEntropy.dataSync()[0]).toBeCloseTo(Math.log(2) / 2, 5);
    const entropy = -(0.25 * Math.log(0.25) + 0.75 * Math.log(0.75)) / 2 + Math.log(2) / 2;
    expect(metrics.entropy.dataSync()[0]).toBeCloseTo(entropy, 5);
  });

  it('has the gradient of finite differences', () => {
    const lossAt = (kernel: tf.Tensor) =>
      hopLoss(net, { ...params(), 'policy/kernel': kernel } as TensorRecord, inputs(), 0.5).loss;
    const kernel = params()['policy/kernel'];
    const gradient = tf.grad(lossAt)(kernel).dataSync();
    const values = [...kernel.dataSync()];
    const step = 1e-2;
    values.forEach((_, i) => {
      const moved = (by: number) =>
        lossAt(
          tf.tensor2d(
            values.map((value, j) => (i === j ? value + by : value)),
            [2, 3],
          ),
        ).dataSync()[0];
      expect(gradient[i]).toBeCloseTo((moved(step) - moved(-step)) / (2 * step), 3);
    });
  });
});
