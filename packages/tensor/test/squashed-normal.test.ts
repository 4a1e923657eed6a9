import { tf, useBackend } from '@coplay/tensor';
import { squashedEntropy, squashedLogProb } from '@coplay/tensor/distributions';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadableBackends } from './backends';

const densityOf = (u: number, mean: number, std: number) =>
  Math.exp(-(((u - mean) / std) ** 2) / 2) / (std * Math.sqrt(2 * Math.PI));

/** The density of a = tanh(u) by the change of variables, with u = atanh(a). */
const squashedDensity = (a: number, mean: number, std: number) => densityOf(Math.atanh(a), mean, std) / (1 - a * a);

/** -sum p log p over a fine grid of actions. */
function entropyByHand(mean: number, std: number): number {
  const N = 400_000;
  let sum = 0;
  for (let i = 0; i < N; i++) {
    const a = -1 + (2 * (i + 0.5)) / N;
    const p = squashedDensity(a, mean, std);
    if (p > 0) sum -= (p * Math.log(p) * 2) / N;
  }
  return sum;
}

describe.each(await loadableBackends())('squashed normal on %s', (backend) => {
  beforeEach(async () => {
    await useBackend(backend);
    tf.engine().startScope();
  });
  afterEach(() => tf.engine().endScope());

  const normal = (mean: number[], stddev: number[]) => ({
    mean: tf.tensor2d([mean]),
    stddev: tf.tensor2d([stddev]),
  });

  it('has the density of the change of variables, summed over dimensions', () => {
    const u = [0.3, -1.2];
    const [logProb] = squashedLogProb(normal([0, -1], [1, 0.5]), tf.tensor2d([u])).dataSync();
    const expected =
      Math.log(squashedDensity(Math.tanh(0.3), 0, 1)) + Math.log(squashedDensity(Math.tanh(-1.2), -1, 0.5));
    expect(logProb).toBeCloseTo(expected, 5);
  });

  it('stays finite where tanh(u) rounds to 1', () => {
    const [logProb] = squashedLogProb(normal([0], [10]), tf.tensor2d([[30]])).dataSync();
    // log(1 - tanh(30)^2) = log 4 - 60 up to 1e-26
    expect(logProb).toBeCloseTo(Math.log(densityOf(30, 0, 10)) - Math.log(4) + 60, 4);
  });

  it.each([
    [0, 0.3],
    [0.7, 1],
    [-1.5, 0.5],
    [0.2, 1.5],
  ])('has the entropy of its density: mean %d, standard deviation %d', (mean, std) => {
    const [entropy] = squashedEntropy(normal([mean], [std])).dataSync();
    expect(Math.abs(entropy - entropyByHand(mean, std))).toBeLessThan(2e-3);
  });

  it('has gradients of log-density and entropy that agree with finite differences', () => {
    const u = tf.tensor2d([[0.4]]);
    const each = [
      (mean: tf.Tensor, stddev: tf.Tensor) => squashedLogProb({ mean, stddev }, u),
      (mean: tf.Tensor, stddev: tf.Tensor) => squashedEntropy({ mean, stddev }),
    ];
    for (const f of each) {
      const at = (mean: number, stddev: number) => f(tf.tensor2d([[mean]]), tf.tensor2d([[stddev]])).dataSync()[0];
      const [ofMean, ofStd] = tf.grads((mean, stddev) => tf.sum(f(mean, stddev)))([
        tf.tensor2d([[0.6]]),
        tf.tensor2d([[0.8]]),
      ]);
      const h = 1e-2;
      expect(ofMean.dataSync()[0]).toBeCloseTo((at(0.6 + h, 0.8) - at(0.6 - h, 0.8)) / (2 * h), 2);
      expect(ofStd.dataSync()[0]).toBeCloseTo((at(0.6, 0.8 + h) - at(0.6, 0.8 - h)) / (2 * h), 2);
    }
  });
});
