import { createGenerator } from '@coplay/core';
import { type TensorRecord, tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { type DreamerActions, dreamerActor } from './actor';

beforeAll(async () => {
  await useBackend('cpu');
});

const [N, F] = [4, 3];
const features = () => tf.sin(tf.reshape(tf.range(0, N * F), [N, F])) as tf.Tensor2D;

/** An actor, and parameters of which none is 0. */
function actorOf(actions: DreamerActions, unimix = 0) {
  const actor = dreamerActor({ actions, featureSize: F, units: 5, layers: 1, unimix });
  const generator = createGenerator(7);
  const drawn = Object.entries(actor.specs).map(([name, { shape }]) => {
    const size = shape.reduce((product, side) => product * side, 1);
    return [name, Float32Array.from({ length: size }, () => generator.normal()), shape] as const;
  });
  const params = (change?: { name: string; at: number; by: number }): TensorRecord =>
    Object.fromEntries(
      drawn.map(([name, data, shape]) => {
        const values = data.slice();
        if (change?.name === name) values[change.at] += change.by;
        return [name, tf.tensor(values, [...shape])];
      }),
    );
  return { actor, params, names: drawn.map(([name, data]) => [name, data.length] as const) };
}

const rowsOf = (x: tf.Tensor) => x.arraySync() as number[][];
const close = (got: readonly number[], expected: readonly number[], digits = 5) => {
  expect(got.length).toBe(expected.length);
  expected.forEach((value, i) => void expect(got[i]).toBeCloseTo(value, digits));
};

describe('an actor over numbers', () => {
  const { actor, params, names } = actorOf({ kind: 'continuous', size: 2 });
  const actions = () => tf.tensor2d([0.3, -1.4, 0, 0.9, 2, -0.1, -0.7, 0.2], [N, 2]);

  it('is a normal distribution with the mean tanh(m) and the deviation 0.9 sigmoid(s + 2) + 0.1', () => {
    const distribution = actor.distribution(params(), features());
    if (distribution.kind !== 'continuous') throw new Error('expected numbers');
    const [means, stds] = [rowsOf(distribution.mean), rowsOf(distribution.stddev)];
    const logProbs = rowsOf(actions()).map((row, n) =>
      row.reduce((sum, a, i) => {
        const z = (a - means[n][i]) / stds[n][i];
        return sum - z ** 2 / 2 - Math.log(stds[n][i] * Math.sqrt(2 * Math.PI));
      }, 0),
    );
    close([...actor.logProb(distribution, actions()).dataSync()], logProbs);
    const entropies = stds.map((row) => row.reduce((sum, s) => sum + Math.log(s * Math.sqrt(2 * Math.PI * Math.E)), 0));
    close([...actor.entropy(distribution).dataSync()], entropies);
    const noise = tf.tensor2d([1, -1, 0, 0.5, 2, 0, -0.5, 3], [N, 2]);
    const samples = rowsOf(actor.sample(distribution, noise));
    samples.forEach(
      (row, n) =>
        void close(
          row,
          rowsOf(noise)[n].map((e, i) => means[n][i] + stds[n][i] * e),
        ),
    );
  });

  it('has a deviation between 0.1 and 1 however far its outputs go, and entropies between those of these', () => {
    const [low, high] = actor.entropyRange;
    for (const [output, std] of [
      [-40, 0.1],
      [40, 1],
    ]) {
      const far = params();
      far['head/kernel'] = tf.zerosLike(far['head/kernel']);
      far['head/bias'] = tf.tensor1d([output, output, output, output]);
      const distribution = actor.distribution(far, features());
      if (distribution.kind !== 'continuous') throw new Error('expected numbers');
      close(rowsOf(distribution.stddev)[0], [std, std]);
      close(rowsOf(distribution.mean)[0], [Math.sign(output), Math.sign(output)]);
      const [entropy] = actor.entropy(distribution).dataSync();
      expect(entropy).toBeCloseTo(std === 1 ? high : low, 5);
    }
  });

  // REINFORCE: samples get no gradient, log-probabilities and entropies of the distribution do.
  it.each([
    ['log-probability', (own: TensorRecord) => actor.logProb(actor.distribution(own, features()), actions())],
    ['entropy', (own: TensorRecord) => actor.entropy(actor.distribution(own, features()))],
  ])('has the gradient of its %s by finite differences', (_, measure) => {
    const value = (own: TensorRecord) => tf.sum(measure(own)) as tf.Scalar;
    const inOrder = names.map(([name]) => name);
    const gradients = tf.grads((...given: tf.Tensor[]) => {
      return value(Object.fromEntries(inOrder.map((name, i) => [name, given[i]])));
    })(inOrder.map((name) => params()[name]));
    const by = 1e-2;
    names.forEach(([name, size], i) => {
      for (let at = 0; at < size; at += 3) {
        const up = value(params({ name, at, by })).dataSync()[0];
        const down = value(params({ name, at, by: -by })).dataSync()[0];
        const slope = (up - down) / (2 * by);
        expect(Math.abs(gradients[i].dataSync()[at] - slope), name).toBeLessThan(2e-2 * Math.max(1, Math.abs(slope)));
      }
    });
  });

  it('lets no gradient through its samples', () => {
    const { 'head/bias': bias } = params();
    const [gradient] = tf.grads((own: tf.Tensor) => {
      const distribution = actor.distribution({ ...params(), 'head/bias': own }, features());
      return tf.add(tf.sum(actor.sample(distribution, tf.ones([N, 2]))), tf.sum(own)) as tf.Scalar;
    })([bias]);
    expect([...gradient.dataSync()]).toEqual([1, 1, 1, 1]); // of the second sum alone
  });
});

describe('an actor over several choices', () => {
  const actions = { kind: 'multi-discrete', counts: [2, 3] } as const;
  const taken = () => tf.tensor2d([0, 2, 1, 0, 1, 1, 0, 0], [N, 2], 'int32');

  it('is the product of a distribution for each choice', () => {
    const { actor, params } = actorOf(actions, 0.1);
    const distribution = actor.distribution(params(), features());
    if (distribution.kind !== 'discrete') throw new Error('expected choices');
    const probs = rowsOf(tf.exp(distribution.logProbs));
    const codes = actor.code(taken()) as tf.Tensor2D;
    expect(rowsOf(codes)[0]).toEqual([1, 0, 0, 0, 1]);
    const logProbs = rowsOf(taken()).map(([first, second], n) => Math.log(probs[n][first] * probs[n][2 + second]));
    close([...actor.logProb(distribution, codes).dataSync()], logProbs);
    // Over the six joint actions, one by one.
    const entropies = probs.map((p) => {
      const joint = [0, 1].flatMap((a) => [2, 3, 4].map((b) => p[a] * p[b]));
      expect(joint.reduce((sum, q) => sum + q, 0)).toBeCloseTo(1, 5);
      return joint.reduce((sum, q) => sum - q * Math.log(q), 0);
    });
    close([...actor.entropy(distribution).dataSync()], entropies);
    for (const p of probs.flat()) expect(p).toBeGreaterThan(0.033); // the uniform share of three options
    expect(actor.entropyRange[1]).toBeCloseTo(Math.log(6), 10);
  });

  it('draws an option of each choice by a number of its own, among the legal ones', () => {
    const { actor } = actorOf(actions);
    const logProbs = tf.log(tf.tensor2d([0.5, 0.5, 0.2, 0.3, 0.5], [1, 5])) as tf.Tensor2D;
    const draw = (distribution: Parameters<typeof actor.sample>[0], ...noise: number[]) =>
      rowsOf(actor.sample(distribution, tf.tensor2d(noise, [1, 2])))[0];
    const free = { kind: 'discrete', logProbs } as const;
    expect(draw(free, 0.4, 0.6)).toEqual([1, 0, 0, 0, 1]);
    expect(draw(free, 0.6, 0.1)).toEqual([0, 1, 1, 0, 0]);
    const legal = actor.masked(free, tf.tensor2d([1, 0, 0, 1, 1], [1, 5]));
    expect(draw(legal, 0.6, 0.1)).toEqual([1, 0, 0, 1, 0]); // 0.3 of 0.8
    expect(draw(legal, 0.6, 0.4)).toEqual([1, 0, 0, 0, 1]);
  });

  it('says nothing where there was no action', () => {
    const { actor } = actorOf(actions);
    expect(rowsOf(actor.code(tf.tensor2d([-1, -1], [1, 2], 'int32')))[0]).toEqual([0, 0, 0, 0, 0]);
    expect(() => actor.code(tf.zeros([1, 3], 'int32'))).toThrow(/expected the shape \[\.\.\., 2\]/);
  });
});
