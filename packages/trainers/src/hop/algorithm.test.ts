import { createGenerator, type Experience, type ObservationSpec } from '@coplay/core';
import { allocateCuts, allocateExperience } from '@coplay/core/arrays';
import { mlp } from '@coplay/models';
import { type TensorRecord, tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { episodeReturns, finalTargets, hopLoss, valueTargets } from './algorithm';
import { policyValueNet } from './net';

beforeAll(async () => {
  await useBackend('cpu');
});

const observation: ObservationSpec = { seen: { shape: [1], dtype: 'float32' } };
const players = { agents: ['a', 'b'], observation, actions: 2 };

/**
 * One episode of four steps. Agent a earns 1, then 4 in its last step, the third. Agent b earns 2 in the second step
 * and is cut by the time limit after the fourth.
 */
function episode(): Experience {
  const x = allocateExperience(players, 1, 4);
  x.rewards.set([1, 0, 0, 2, 4, 0, 0, 0]);
  x.active.set([1, 1, 1, 1, 1, 1, 0, 1]);
  x.terminated.set([0, 0, 0, 0, 1, 0, 1, 0]);
  x.truncated.set([0, 0, 0, 0, 0, 0, 0, 1]);
  x.isFirst[0] = 1;
  x.ended[3] = 1;
  const cuts = allocateCuts(players, 1);
  cuts.step[0] = 3;
  return { ...x, cuts };
}

const parts = { searchValues: Float32Array.of(9, 1, 8, 2, 7, 3, 9, 6), cutValues: Float32Array.of(99, 8) };
const options = { gamma: 0.5, valueTarget: 'return', steps: 2, truncation: 'bootstrap' } as const;

describe('valueTargets', () => {
  it('is the discounted return, with the value of what a time limit cut off', () => {
    // a: 1 + 4/4, 4/2, 4. b: 0.5 * 2 + 8/16, 2 + 8/8, 8/4, 8/2.
    expect([...valueTargets(episode(), parts, options)]).toEqual([2, 1.5, 2, 3, 4, 2, 0, 4]);
    const terminal = { ...options, truncation: 'terminal' } as const;
    expect([...valueTargets(episode(), parts, terminal)]).toEqual([2, 1, 2, 2, 4, 0, 0, 0]);
  });

  it('is the whole reward, discounted from the last step of each agent', () => {
    const final = { ...options, valueTarget: 'final' } as const;
    // a: 5 from its third step back; b: 2 from its fourth.
    expect([...valueTargets(episode(), parts, final)]).toEqual([1.25, 0.25, 2.5, 0.5, 5, 1, 0, 2]);
  });

  it('is n rewards and the value that the search found n steps later', () => {
    const two = { ...options, valueTarget: 'n-step' } as const;
    // a: 1 + 0 + 7/4, 0 + 4/2, 4. b: 0 + 2/2 + 3/4, 2 + 0 + 6/4, 0 + 0 + 8/4, 8/2.
    expect([...valueTargets(episode(), parts, two)]).toEqual([2.75, 1.75, 2, 3.5, 4, 2, 0, 4]);
    const many = { ...options, valueTarget: 'n-step', steps: 10 } as const;
    expect([...valueTargets(episode(), parts, many)]).toEqual([2, 1.5, 2, 3, 4, 2, 0, 4]); // the return
  });

  it('reads nothing where an agent does not play', () => {
    const changed = episode();
    changed.rewards[6] = Number.NaN;
    for (const valueTarget of ['return', 'final', 'n-step'] as const) {
      const nothing = { searchValues: parts.searchValues.with(6, Number.NaN), cutValues: parts.cutValues };
      expect(valueTargets(changed, nothing, { ...options, valueTarget })).toEqual(
        valueTargets(episode(), parts, { ...options, valueTarget }),
      );
    }
  });
});

describe('finalTargets', () => {
  it('takes any outcome of each agent, such as a rank', () => {
    expect([...episodeReturns(episode())]).toEqual([5, 2]);
    expect([...finalTargets(episode(), [1, -1], 0.5)]).toEqual([0.25, -0.125, 0.5, -0.25, 1, -0.5, 0, -1]);
  });
});

describe('hopLoss', () => {
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
