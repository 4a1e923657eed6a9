import { createGenerator, ndarray } from '@coplay/core';
import { tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { legalLoss, withLegalHead } from './legal';
import { smallParts, tensorsOf } from './test-batch';

beforeAll(async () => {
  await useBackend('cpu');
});

describe('the head for legal actions', () => {
  it('learns masks by cross entropy, summed over actions', () => {
    const masks = tf.tensor2d([[1, 0]]);
    expect(legalLoss(tf.tensor2d([[0, 0]]), masks).dataSync()[0]).toBeCloseTo(2 * Math.LN2, 6);
    // softplus(10) - 10 + softplus(-10) = 2 ln(1 + e^-10)
    expect(legalLoss(tf.tensor2d([[10, -10]]), masks).dataSync()[0]).toBeCloseTo(2 * Math.log1p(Math.exp(-10)), 6);
    expect(legalLoss(tf.tensor2d([[-10, 10]]), masks).dataSync()[0]).toBeCloseTo(20 + 2 * Math.log1p(Math.exp(-10)), 4);
  });

  it('holds the imagined actor to what it takes for legal', () => {
    const nets = withLegalHead(smallParts().nets);
    const arrays = nets.init(createGenerator(1));
    const kernel = arrays['leg/head/kernel'];
    arrays['leg/head/kernel'] = ndarray(kernel.data.map(() => 0) as Float32Array, [...kernel.shape]);
    arrays['leg/head/bias'] = ndarray(Float32Array.of(5, -5, 5));
    const features = tf.ones([4, nets.rssm.featureSize]) as tf.Tensor2D;
    const { pol } = nets.parts(tensorsOf(arrays));
    const distribution = nets.actor.distribution(pol, features);
    if (distribution.kind !== 'discrete') throw new Error('expected discrete actions');
    const rows = tf.exp(distribution.logProbs).arraySync() as number[][];
    for (const [a, b, c] of rows) {
      expect(b).toBe(0);
      expect(a + c).toBeCloseTo(1, 6);
    }
    const entropy = nets.actor.entropy(distribution).dataSync()[0];
    expect(entropy).toBeCloseTo(-rows[0][0] * Math.log(rows[0][0]) - rows[0][2] * Math.log(rows[0][2]), 5);
  });

  it('draws any action where it takes none for legal', () => {
    const logProbs = tf.log(tf.tensor2d([[0.2, 0.3, 0.5]])) as tf.Tensor2D;
    const same = smallParts().nets.actor.masked({ kind: 'discrete', logProbs }, tf.zeros([1, 3]));
    if (same.kind !== 'discrete') throw new Error('expected discrete actions');
    for (const p of tf.exp(same.logProbs).dataSync()) expect(p).toBeCloseTo(1 / 3, 6);
  });
});
