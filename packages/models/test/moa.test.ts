import { createGenerator, type NamedArrays, ndarray } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { centredEncoder, inputEncoder, mlp, moaNet } from '@coplay/models';
import { tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';

beforeAll(async () => {
  await useBackend('cpu');
});

const K = 4;
const inputs = { vector: [3] };
const network = mlp({ hidden: [8] });

function tensors(params: NamedArrays): Record<string, tf.Tensor> {
  return Object.fromEntries(
    Object.entries(params).map(([name, { data, shape }]) => [name, tf.tensor(data as Float32Array, [...shape])]),
  );
}

/** Parameters with a head that isn't almost 0, so that predictions differ. */
function someParams(net: ReturnType<typeof moaNet>): Record<string, tf.Tensor> {
  const params = net.init(createGenerator(1));
  const kernel = params['head/kernel'];
  return tensors({
    ...params,
    'head/kernel': ndarray(
      (kernel.data as Float32Array).map((x) => 100 * x),
      kernel.shape,
    ),
  });
}

describe('moaNet', () => {
  it('gives legal actions all of the probability', () => {
    const net = moaNet({ inputs, actions: K, network });
    const mask = tf.tensor2d([1, 0, 1, 0, 0, 0, 0, 1], [2, K]);
    const { policy: logProbs } = net.step(someParams(net), { vector: tf.tensor2d([1, 2, 3, 4, 5, 6], [2, 3]) }, mask);
    const p = tf.exp(logProbs).arraySync() as number[][];
    expect(p[0][1] + p[0][3]).toBe(0);
    expect(p[0][0] + p[0][2]).toBeCloseTo(1, 5);
    expect(p[1]).toEqual([0, 0, 0, 1]);
  });

  it('begins almost uniform over the legal actions', () => {
    const net = moaNet({ inputs, actions: K, network });
    const mask = tf.tensor2d([1, 1, 0, 1], [1, K]);
    const { policy: logProbs } = net.step(
      tensors(net.init(createGenerator(1))),
      { vector: tf.tensor2d([1, 2, 3], [1, 3]) },
      mask,
    );
    const [p] = tf.exp(logProbs).arraySync() as number[][];
    for (const k of [0, 1, 3]) expect(p[k]).toBeCloseTo(1 / 3, 1);
  });

  it('reads the goal as a one-hot behind the vector, and "unknown" as one of its own', () => {
    const net = moaNet({ inputs, actions: K, goals: 2, unknownGoal: true, network });
    const plain = moaNet({ inputs: { vector: [3 + 3] }, actions: K, network });
    const params = someParams(net);
    const mask = tf.ones([3, K]) as tf.Tensor2D;
    const vector = tf.tensor2d([1, 2, 3, 1, 2, 3, 1, 2, 3], [3, 3]);
    const { policy: logProbs } = net.step(params, { vector }, mask, tf.tensor1d([0, 1, -1], 'int32'));
    const codes = tf.tensor2d([1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 3]);
    const expected = plain.step(params, { vector: tf.concat([vector, codes], 1) }, mask).policy;
    expect(logProbs.arraySync()).toEqual(expected.arraySync());
    expect(new Set((logProbs.arraySync() as number[][]).map(([first]) => first)).size).toBe(3);
  });

  it('asks for goals where predictions depend on them', () => {
    const net = moaNet({ inputs, actions: K, goals: 2, network });
    const call = () => net.step(someParams(net), { vector: tf.zeros([1, 3]) }, tf.ones([1, K]) as tf.Tensor2D);
    expect(call).toThrow(/expected goals for a goal-conditioned model/);
  });

  it('predicts sequences as it predicts their steps, and forgets at the start of an episode', () => {
    const net = moaNet({ inputs, actions: K, goals: 2, network, recurrent: 5 });
    const params = someParams(net);
    const generator = createGenerator(2);
    const [B, T] = [2, 4];
    const seen = Float32Array.from({ length: B * T * 3 }, () => generator.normal());
    const goals = [0, 0, 1, 1, 1, 1, 1, 0];
    const isFirst = [1, 0, 1, 0, 1, 0, 0, 1]; // [B, T]
    const all = net.predict(params, {
      inputs: { vector: tf.tensor3d(seen, [B, T, 3]) },
      goals: tf.tensor2d(goals, [B, T], 'int32'),
      mask: tf.ones([B, T, K]),
      isFirst: tf.tensor2d(isFirst, [B, T]),
    });
    const expected: number[][] = [];
    for (let b = 0; b < B; b++) {
      let state = tf.zeros([1, 5]) as tf.Tensor2D;
      for (let t = 0; t < T; t++) {
        const at = b * T + t;
        if (isFirst[at] === 1) state = tf.zeros([1, 5]);
        const vector = tf.tensor2d(seen.slice(at * 3, at * 3 + 3), [1, 3]);
        const step = net.step(params, { vector }, tf.ones([1, K]), tf.tensor1d([goals[at]], 'int32'), state);
        state = step.state as tf.Tensor2D;
        expected.push((step.policy.arraySync() as number[][])[0]);
      }
    }
    const got = all.arraySync() as number[][];
    expected.flat().forEach((x, i) => {
      expect(got.flat()[i]).toBeCloseTo(x, 4);
    });
    expect(got[0]).not.toEqual(got[4]);
  });
});

describe('centredEncoder', () => {
  it('puts the agent in the middle and marks what lies outside of the board', () => {
    const game = stagHunt({ size: 4, agents: 2, stags: 1, hares: 1 });
    const encoder = centredEncoder(game, inputEncoder(game));
    const channels = game.observation['planes'].channels as readonly string[];
    const C = channels.length;
    expect(encoder.shapes['planes']).toEqual([7, 7, C + 1]);
    const planes = new Uint8Array(16 * C);
    planes[(1 * 4 + 3) * C + channels.indexOf('self')] = 1; // row 1, column 3
    planes[(2 * 4 + 0) * C + channels.indexOf('stags')] = 1; // one down, three to the left
    const observations = { planes, time: Float32Array.of(0.5) };
    const source = { rows: 1, seat: 0, offset: 0, stride: 1, extras: {} };
    const rows = { ...source, observations, masks: new Uint8Array(7), previousActions: new Int32Array(2) };
    const { planes: moved, vector } = encoder.encode(rows);
    const at = (y: number, x: number, c: number) => moved.data[(y * 7 + x) * (C + 1) + c];
    expect(at(3, 3, channels.indexOf('self'))).toBe(1);
    expect(at(4, 0, channels.indexOf('stags'))).toBe(1);
    const outside = Array.from({ length: 49 }, (_, i) => at(Math.floor(i / 7), i % 7, C));
    expect(outside.reduce((sum, x) => sum + x, 0)).toBe(49 - 16);
    expect([at(2, 0, C), at(1, 0, C), at(5, 3, C), at(6, 3, C), at(3, 4, C)]).toEqual([0, 1, 0, 1, 1]);
    expect(Array.from(moved.data).reduce((sum, x) => sum + x, 0)).toBe(2 + 33);
    expect([...vector.data]).toEqual([0.5]);
    const into = encoder.allocate(2);
    expect(into['planes'].shape).toEqual([2, 7, 7, C + 1]);
    expect(encoder.encode(rows, into)).toBe(into);
    expect([...into['planes'].data]).toEqual([...moved.data, ...new Uint8Array(moved.data.length)]);
    expect([...into['vector'].data]).toEqual([0.5, 0]);
  });
});
