import { createGenerator, type NamedArrays } from '@coplay/core';
import { dreamerNets } from '@coplay/models/dreamer';
import { type TensorRecord, tf, useBackend } from '@coplay/tensor';
import { detached, imagineSequence, lastStates, policyLoss } from '@coplay/trainers/losses';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { differences, loadableMachines, onMachine, wave } from '../../../test/machines';

beforeEach(async () => {
  await useBackend('cpu');
  tf.engine().startScope();
});
afterEach(() => tf.engine().endScope());

const cartPole = { position: { kind: 'vector', size: 4 } } as const;
const two = { kind: 'discrete', count: 2 } as const;
const H = 4;

/** Parameters of which none is 0. */
const someParams = (nets: ReturnType<typeof dreamerNets>): NamedArrays =>
  Object.fromEntries(
    Object.entries(nets.specs).map(([name, { shape }], i) => [name, wave(shape, i, name.endsWith('scale') ? 1 : 0)]),
  );

const tensors = (arrays: NamedArrays): TensorRecord =>
  Object.fromEntries(
    Object.entries(arrays).map(([name, { data, shape }]) => [
      name,
      tf.tensor(data as Float32Array, [...shape], data instanceof Int32Array ? 'int32' : 'float32'),
    ]),
  );

describe.each([two, { kind: 'continuous', size: 2 }] as const)('imagination with $kind actions', (actions) => {
  const nets = dreamerNets({ observations: cartPole, actions, size: 'debug' });
  const N = 3;
  const S = nets.sizes.stoch;
  const noise = () => ({
    latents: tf.abs(tf.tensor3d(wave([H, N, S], 1).data as Float32Array, [H, N, S])) as tf.Tensor3D,
    actions: tf.abs(
      tf.tensor3d(wave([H + 1, N, nets.actor.noise.size], 2).data as Float32Array, [H + 1, N, nets.actor.noise.size]),
    ) as tf.Tensor3D,
  });

  it('the action of index t is drawn in state t and leads to state t + 1', () => {
    const params = tensors(someParams(nets));
    const { dyn, pol } = nets.parts(params);
    const given = noise();
    const start = nets.rssm.initial(N);
    const { features, actions: taken } = imagineSequence(nets, params, start, given);
    expect([features.shape, taken.shape]).toEqual([
      [N, H + 1, nets.rssm.featureSize],
      [N, H + 1, 2],
    ]);
    const at = (x: tf.Tensor3D, t: number) => tf.reshape(tf.slice(x, [0, t, 0], [N, 1, -1]), [N, -1]) as tf.Tensor2D;
    let state = start;
    for (let t = 0; t <= H; t++) {
      const seen = nets.rssm.features(state);
      expect(at(features, t).arraySync()).toEqual(seen.arraySync());
      const draws = tf.unstack(given.actions)[t] as tf.Tensor2D;
      const action = nets.actor.sample(nets.actor.distribution(pol, seen), draws);
      expect(at(taken, t).arraySync()).toEqual(action.arraySync());
      if (t < H) state = nets.rssm.imagine(dyn, state, action, tf.unstack(given.latents)[t] as tf.Tensor2D);
    }
    expect(() => imagineSequence(nets, params, start, { ...given, actions: tf.zeros([H, N, 1]) })).toThrow(
      /noise.actions for 5 states, got 4/,
    );
  });

  it('teaches nothing by itself: no gradient flows out of it, and the actor learns by log-probabilities', () => {
    const params = tensors(someParams(nets));
    const names = Object.keys(params);
    const gradient = (entropyScale: number, advantage: number) => {
      const loss = (...values: tf.Tensor[]) => {
        const given = Object.fromEntries(names.map((name, i) => [name, values[i]]));
        const { features, actions: taken } = imagineSequence(nets, given, nets.rssm.initial(N), noise());
        const rows = tf.reshape(features, [N * (H + 1), -1]) as tf.Tensor2D;
        const distribution = nets.actor.distribution(nets.parts(given).pol, rows);
        const terms = {
          logProbs: nets.actor.logProb(distribution, tf.reshape(taken, [N * (H + 1), -1])),
          entropies: nets.actor.entropy(distribution),
          advantages: tf.fill([N * (H + 1)], advantage),
          weights: tf.ones([N * (H + 1)]),
        };
        const anyhow = tf.addN(values.map((value) => tf.mul(tf.sum(value), 0)));
        return tf.add(
          tf.sum(policyLoss(terms, entropyScale)),
          tf.add(anyhow, tf.mul(tf.sum(features), 1)),
        ) as tf.Scalar;
      };
      return tf
        .grads(loss)(names.map((name) => params[name]))
        .map((g) => [...g.dataSync()]);
    };
    const score = gradient(0, 1);
    const moved = names.filter((_, i) => score[i].some((g) => g !== 0));
    expect([...new Set(moved.map((name) => name.split('/')[0]))]).toEqual(['pol']);
    // Twice the advantage is twice the gradient: it isn't the entropy alone that's learned.
    const kernel = names.indexOf('pol/head/kernel');
    expect(
      differences(
        gradient(0, 2)[kernel],
        score[kernel].map((g) => 2 * g),
        1e-3,
      ),
    ).toEqual([]);
  });

  it('is the same on every machine', async () => {
    const results = [];
    const f = (params: TensorRecord) => ({ ...imagineSequence(nets, params, nets.rssm.initial(N), noise()) });
    for (const machine of await loadableMachines()) results.push(await onMachine(machine, f, someParams(nets)));
    for (const other of results.slice(1)) {
      expect(differences(other['features'].data, results[0]['features'].data, 1e-3)).toEqual([]);
      expect(differences(other['actions'].data, results[0]['actions'].data, 1e-3)).toEqual([]);
    }
    await useBackend('cpu');
  });
});

describe('helpers', () => {
  it('lastStates: the last K steps of each sequence as rows', () => {
    const deter = tf.reshape(tf.range(0, 12), [2, 3, 2]) as tf.Tensor3D;
    const stoch = tf.reshape(tf.range(0, 12), [2, 3, 1, 2]) as tf.Tensor4D;
    const { deter: h, stoch: z } = lastStates({ deter, stoch }, 2);
    expect(h.arraySync()).toEqual([
      [2, 3],
      [4, 5],
      [8, 9],
      [10, 11],
    ]);
    expect(z.arraySync()).toEqual([[[2, 3]], [[4, 5]], [[8, 9]], [[10, 11]]]);
    expect(() => lastStates({ deter, stoch }, 4)).toThrow(/lastStates: expected a count in 1..3/);
  });

  it('detached: the same values, no gradient', () => {
    const f = (w: tf.Tensor) => tf.sum(tf.add(tf.mul(w, 2), tf.mul(detached({ w })['w'], w)));
    // 2 + w, where w w would give 2 + 2 w
    expect([
      ...tf
        .grad(f)(tf.tensor1d([3]))
        .dataSync(),
    ]).toEqual([5]);
  });
});

describe('imagination with co-players', () => {
  const [K, M] = [3, 2];
  const nets = dreamerNets({
    observations: { position: { kind: 'vector', size: 3 } },
    actions: { kind: 'discrete', count: K },
    size: 'debug',
    coPlayers: M,
  });

  it('draws what their model of co-players says in each state, and who has left stays away', () => {
    const params = tensors(nets.init(createGenerator(1)));
    // The head's bias decides: the first co-player takes action 1, the second one leaves at once.
    params['moa/head/kernel'] = tf.zerosLike(params['moa/head/kernel']);
    const decided = (first: number, second: number) => {
      const bias = new Float32Array(M * (K + 1)).fill(-50);
      bias[first] = 50;
      bias[K + 1 + second] = 50;
      return { ...params, 'moa/head/bias': tf.tensor1d(bias) };
    };
    const H = 3;
    const noise = {
      latents: tf.fill([H, 2, nets.sizes.stoch], 0.4) as tf.Tensor3D,
      actions: tf.fill([H + 1, 2, 1], 0.5) as tf.Tensor3D,
      coPlayers: tf.fill([H, 2, M], 0.5) as tf.Tensor3D,
    };
    const imagine = (given: TensorRecord, active?: tf.Tensor2D) =>
      imagineSequence(nets, given, nets.rssm.initial(2), noise, active);
    const leaving = imagine(decided(1, K));
    const step = [0, 1, 0, 0, 0, 0];
    expect(leaving.coPlayers!.arraySync()).toEqual([Array(H).fill(step), Array(H).fill(step)]);
    const gone = imagine(
      decided(1, 2),
      tf.tensor2d([
        [1, 1],
        [0, 1],
      ]),
    );
    expect((gone.coPlayers!.arraySync() as number[][][]).map(([first]) => first)).toEqual([
      [0, 1, 0, 0, 0, 1],
      [0, 0, 0, 0, 0, 1],
    ]);
    // What they do moves the next state, and none before.
    const [a, b] = [imagine(decided(1, 2)), imagine(decided(0, 2))].map(
      ({ features }) => features.arraySync() as number[][][],
    );
    expect(a[0][0]).toEqual(b[0][0]);
    expect(a[0][1]).not.toEqual(b[0][1]);
    const { coPlayers: _, ...missing } = noise;
    expect(() => imagineSequence(nets, params, nets.rssm.initial(2), missing)).toThrow(/noise.coPlayers/);
  });
});

describe('noise that does not fit', () => {
  it('is refused by name', () => {
    const nets = dreamerNets({ observations: cartPole, actions: two, size: 'debug', coPlayers: 2 });
    const params = tensors(someParams(nets));
    const [N, S] = [3, nets.sizes.stoch];
    const noise = {
      latents: tf.zeros([H, N, S]) as tf.Tensor3D,
      actions: tf.zeros([H + 1, N, 1]) as tf.Tensor3D,
      coPlayers: tf.zeros([H, N, 2]) as tf.Tensor3D,
    };
    const imagine = (change: Partial<typeof noise>, active?: tf.Tensor2D) => () =>
      imagineSequence(nets, params, nets.rssm.initial(N), { ...noise, ...change }, active);
    expect(imagine({ latents: tf.zeros([H, 1, S]) })).toThrow(/noise.latents of shape \[H=4, 3, 2\], got \[4, 1, 2\]/);
    expect(imagine({ actions: tf.zeros([H + 1, N, 2]) })).toThrow(
      /noise.actions of shape \[5, 3, 1\], got \[5, 3, 2\]/,
    );
    expect(imagine({ coPlayers: tf.zeros([H, N, 1]) })).toThrow(
      /noise.coPlayers of shape \[4, 3, 2\], got \[4, 3, 1\]/,
    );
    expect(imagine({}, tf.ones([N, 3]))).toThrow(/active of shape \[3, 2\], got \[3, 3\]/);
    expect(imagine({}, tf.ones([N, 2]))().coPlayers!.shape).toEqual([N, H, 4]);
  });
});

describe('a table of actions', () => {
  const A = 3;

  it.each([
    ['is used in imagination where actions are discrete', { kind: 'discrete', count: A } as const, 0, 1],
    ['not where they are numbers', { kind: 'continuous', size: A } as const, 0, 0],
    ['nor with co-players', { kind: 'discrete', count: A } as const, 1, 0],
  ])('%s', (_, actions, coPlayers, times) => {
    const nets = dreamerNets({ observations: { x: { kind: 'vector', size: 2 } }, actions, size: 'debug', coPlayers });
    const made = vi.spyOn(nets.rssm, 'actionTable');
    const [H, N] = [2, 3];
    const { stoch } = nets.sizes;
    const draws = { latents: tf.zeros([H, N, stoch]), actions: tf.zeros([H + 1, N, nets.actor.noise.size]) };
    const given = { ...draws, ...(coPlayers && { coPlayers: tf.zeros([H, N, coPlayers]) }) } as never;
    imagineSequence(nets, tensors(someParams(nets)), nets.rssm.initial(N), given);
    expect(made).toHaveBeenCalledTimes(times);
  });
});
