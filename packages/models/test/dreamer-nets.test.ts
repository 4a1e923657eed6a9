import { createGenerator, type NamedArrays } from '@coplay/core';
import {
  type DreamerObservations,
  type DreamerSizeName,
  dreamerNets,
  dreamerObservations,
  dreamerSizes,
  worldModelLosses,
} from '@coplay/models/dreamer';
import { type TensorRecord, tf, useBackend } from '@coplay/tensor';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { differences, loadableMachines, onMachine, wave } from '../../../test/machines';

beforeEach(async () => {
  await useBackend('cpu');
  tf.engine().startScope();
});
afterEach(() => tf.engine().endScope());

const cartPole = { position: { kind: 'vector', size: 4 } } as const;
const two = { kind: 'discrete', count: 2 } as const;

describe('sizes', () => {
  const image = { pixels: { kind: 'image', shape: [64, 64, 3] } } as const;
  // Published: the official modules' for CartPole and for images with six actions.
  const counts: [DreamerSizeName, number, number?][] = [
    ['nano', 99_109],
    ['micro', 357_573],
    ['size1m', 637_381, 686_456],
    ['size12m', 9_724_165, 10_492_616],
    ['size25m', 21_762_181, 23_487_016],
    ['size50m', 38_584_325, 41_646_984],
    ['size100m', 86_580_997, 93_463_624],
    ['size200m', 153_714_181, 165_942_536],
    ['size400m', 345_390_085, 372_887_176],
  ];

  it.each(counts)('%s has as many parameters as the published networks', (size, ofCartPole, ofImage) => {
    expect(dreamerNets({ observations: cartPole, actions: two, size }).parameterCount).toBe(ofCartPole);
    if (ofImage === undefined) return;
    const actions = { kind: 'discrete', count: 6 } as const;
    expect(dreamerNets({ observations: image, actions, size }).parameterCount).toBe(ofImage);
  });

  it('each module alone, and continuous actions', () => {
    const count = (nets: ReturnType<typeof dreamerNets>, module: string) =>
      Object.entries(nets.init(createGenerator(1))).reduce(
        (sum, [name, { data }]) => sum + (name.startsWith(`${module}/`) ? data.length : 0),
        0,
      );
    const nets = dreamerNets({ observations: cartPole, actions: two, size: 'size1m' });
    const modules = { enc: 8_832, dyn: 364_160, dec: 49_796, rew: 57_663, con: 41_153, pol: 49_666, val: 66_111 };
    for (const [module, expected] of Object.entries(modules)) expect(count(nets, module), module).toBe(expected);
    const walker = dreamerNets({
      observations: { proprio: { kind: 'vector', size: 24 } },
      actions: { kind: 'continuous', size: 6 },
      size: 'size1m',
    });
    expect(walker.parameterCount).toBe(640_867);
  });

  it('single numbers replace those of a preset', () => {
    expect(dreamerSizes({ preset: 'micro', stoch: 5 })).toEqual({ ...dreamerSizes('micro'), stoch: 5 });
    expect(() => dreamerSizes('size2m' as never)).toThrow(/dreamerSizes/);
    expect(() => dreamerNets({ observations: cartPole, actions: two, sizes: 'nano' } as never)).toThrow(
      /dreamerNets: expected known options only, got the unknown option "sizes"/,
    );
    expect(() => dreamerNets({ observations: {}, actions: two })).toThrow(/at least one observation/);
    const odd = { pixels: { kind: 'image', shape: [60, 64, 3] } } as const;
    expect(() => dreamerNets({ observations: odd, actions: two })).toThrow(
      /images with sides that 16 divides, got 60 x 64/,
    );
  });
});

const everything: DreamerObservations = {
  position: { kind: 'vector', size: 3 },
  class: { kind: 'discrete', classes: 4 },
  board: { kind: 'planes', shape: [2, 3, 2] },
  pixels: { kind: 'image', shape: [16, 16, 1] },
};
const [B, T] = [2, 3];

/** A batch of everything that can be seen; values without a pattern. */
function batchOf(observations: DreamerObservations, actions: number): Record<string, NamedArrays[string]> {
  const shapes: Record<string, number[]> = { position: [3], class: [], board: [2, 3, 2], pixels: [16, 16, 1] };
  const draw = (shape: readonly number[], index: number) => {
    const { data } = wave(shape, index);
    return { data: (data as Float32Array).map((x) => (x + 0.3) / 0.6), shape }; // in [0, 1]
  };
  const given: Record<string, NamedArrays[string]> = {};
  Object.keys(observations).forEach((name, i) => {
    const noise = draw([B, T, ...shapes[name]], i);
    if (name === 'class')
      given[`seen/${name}`] = { data: Int32Array.from(noise.data, (x) => Math.floor(3.999 * x)), shape: noise.shape };
    else if (name === 'board') given[`seen/${name}`] = { ...noise, data: noise.data.map((x) => Number(x > 0.5)) };
    else
      given[`seen/${name}`] = {
        ...noise,
        data: noise.data.map((x) => (name === 'pixels' ? Math.round(255 * x) : 9 * x - 4)),
      };
  });
  const zeros = { data: new Float32Array(B * T), shape: [B, T] };
  return {
    ...given,
    actions: draw([B, T, actions], 5),
    rewards: draw([B, T], 6),
    isFirst: { ...zeros, data: zeros.data.map((_, i) => Number(i % T === 0)) },
    isTerminal: { ...zeros, data: zeros.data.map((_, i) => Number(i === 4)) },
  };
}

const readBatch = (x: TensorRecord) =>
  ({
    observations: Object.fromEntries(
      Object.entries(x).flatMap(([name, y]) => (name.startsWith('seen/') ? [[name.slice(5), y]] : [])),
    ),
    actions: x['actions'],
    rewards: x['rewards'],
    isFirst: x['isFirst'],
    isTerminal: x['isTerminal'],
  }) as never;

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

describe('worldModelLosses', () => {
  const nets = dreamerNets({ observations: everything, actions: two, size: 'debug' });
  const noise = () => tf.fill([B, T, nets.sizes.stoch], 0.4) as tf.Tensor3D;
  const losses = (params: TensorRecord, x: TensorRecord) =>
    worldModelLosses(nets, params, readBatch(x), nets.rssm.initial(B), noise(), { freeNats: 0 });

  /** Modules that a loss's gradient reaches, and parameters of one module that it reaches or doesn't. */
  function reached(name: string): { modules: string[]; params: string[] } {
    const params = tensors(someParams(nets));
    const names = Object.keys(params);
    const x = tensors(batchOf(everything, 2));
    const loss = (...values: tf.Tensor[]) => {
      const given = Object.fromEntries(names.map((key, i) => [key, values[i]]));
      const anyhow = tf.addN(values.map((value) => tf.mul(tf.sum(value), 0))); // so that every gradient exists
      return tf.add(tf.sum(losses(given, x).losses[name]), anyhow) as tf.Scalar;
    };
    const grads = tf.grads(loss)(names.map((key) => params[key]));
    const moved = names.filter((_, i) => grads[i].dataSync().some((g) => g !== 0));
    return { modules: [...new Set(moved.map((key) => key.split('/')[0]))], params: moved };
  }

  it('each loss teaches its head and what the head reads, and nothing else', { tags: ['slow'] }, () => {
    for (const name of ['position', 'pixels']) {
      expect(reached(`reconstruction/${name}`).modules).toEqual(['enc', 'dyn', 'dec']);
    }
    expect(reached('reward').modules).toEqual(['enc', 'dyn', 'rew']);
    expect(reached('continue').modules).toEqual(['enc', 'dyn', 'con']);
  });

  it('dynamics teach the prior and not the last posterior, representations the posterior and not the prior', {
    tags: ['slow'],
  }, () => {
    const dynamics = reached('dynamics');
    expect(dynamics.modules).toEqual(['enc', 'dyn']);
    expect(dynamics.params).toContain('dyn/priorlogit/kernel');
    expect(dynamics.params).toContain('dyn/dyngru/kernel');
    const representation = reached('representation');
    expect(representation.modules).toEqual(['enc', 'dyn']);
    expect(representation.params.filter((name) => name.startsWith('dyn/prior'))).toEqual([]);
    expect(representation.params).toContain('dyn/obslogit/kernel');
  });

  it('in the first step dynamics teach the core and the prior alone', () => {
    const params = tensors(someParams(nets));
    const x = tensors(batchOf(everything, 2));
    for (const [name, expected] of [
      ['dyn/obslogit/kernel', false],
      ['dyn/obs0/kernel', false],
      ['enc/mlp/0/kernel', false],
      ['dyn/priorlogit/kernel', true],
      ['dyn/dyngru/kernel', true],
    ] as const) {
      const gradient = tf.grad((value: tf.Tensor) => {
        const { dynamics } = losses({ ...params, [name]: value }, x).losses;
        return tf.add(tf.sum(tf.slice(dynamics, [0, 0], [B, 1])), tf.mul(tf.sum(value), 0)) as tf.Scalar;
      })(params[name]);
      expect([name, gradient.dataSync().some((g) => g !== 0)]).toEqual([name, expected]);
    }
  });

  it('begin where they must: reward ln(bins), predictions 0', () => {
    const fresh = dreamerNets({ observations: cartPole, actions: two, size: 'nano' });
    const params = fresh.parts(tensors(fresh.init(createGenerator(1))));
    const features = tf.tensor2d(wave([5, fresh.rssm.featureSize]).data as Float32Array, [5, fresh.rssm.featureSize]);
    for (const [head, own] of [
      [fresh.reward, params.rew],
      [fresh.critic, params.val],
    ] as const) {
      const logits = head.logits(own, features);
      expect([...head.mean(logits).dataSync()].map((x) => x + 0)).toEqual([0, 0, 0, 0, 0]);
      const loss = head.loss(logits, tf.tensor1d([0, 1, -5, 1e3, 1e-3]));
      expect(differences(loss.dataSync(), Array(5).fill(Math.log(255)), 1e-6)).toEqual([]);
    }
    const { logProbs } = fresh.actor.distribution(params.pol, features) as { logProbs: tf.Tensor };
    expect(differences(logProbs.dataSync(), Array(10).fill(-Math.LN2), 0.1)).toEqual([]);
  });

  it('the continue head learns the discount once, and ends by the rules alone', () => {
    const params = someParams(nets);
    // A head whose output is 1 - 1/333 for every input.
    const logit = Math.log((1 - 1 / 333) * 333);
    params['con/head/kernel'] = { data: new Float32Array(8), shape: [8, 1] };
    params['con/head/bias'] = { data: Float32Array.of(logit), shape: [1] };
    const out = losses(tensors(params), tensors(batchOf(everything, 2)));
    const least = 0.0204403; // the entropy of 1 - 1/333
    const ended = Math.log(333); // -log(1 - p)
    expect(differences(out.losses['continue'].dataSync(), [least, least, least, least, ended, least])).toEqual([]);
  });

  it('reconstruction: sums of squares in symlog space, cross entropies, squares of bytes / 255', () => {
    const x = tensors(batchOf(everything, 2));
    const outputs = {
      position: [0.1, 0.2, 0.3],
      class: [0, 1, 2, 3],
      board: Array(12).fill(0.5),
      pixels: Array(16 * 16).fill(0.25),
    };
    const rows = Object.fromEntries(
      Object.entries(outputs).map(([name, row]) => [name, tf.tensor2d([row], [1, row.length])]),
    );
    const seen = Object.fromEntries(Object.keys(outputs).map((name) => [name, tf.slice(x[`seen/${name}`], 0, [1, 1])]));
    const first = Object.fromEntries(
      Object.entries(seen).map(([name, y]) => [name, tf.reshape(y, [1, ...y.shape.slice(2)])]),
    );
    const got = nets.decoder.losses(rows, first);
    const values = (name: string) => [...first[name].dataSync()];
    const symlog = (v: number) => Math.sign(v) * Math.log1p(Math.abs(v));
    const sum = (terms: number[]) => terms.reduce((a, b) => a + b, 0);
    const exps = [0, 1, 2, 3].map(Math.exp);
    expect(
      differences(got['position'].dataSync(), [
        sum(values('position').map((v, i) => (outputs.position[i] - symlog(v)) ** 2)),
      ]),
    ).toEqual([]);
    expect(differences(got['class'].dataSync(), [Math.log(sum(exps)) - values('class')[0]])).toEqual([]);
    expect(
      differences(got['board'].dataSync(), [sum(values('board').map((v) => Math.log(1 + Math.exp(0.5)) - 0.5 * v))]),
    ).toEqual([]);
    expect(differences(got['pixels'].dataSync(), [sum(values('pixels').map((v) => (0.25 - v / 255) ** 2))])).toEqual(
      [],
    );
    const told = nets.decoder.predictions(rows);
    expect(differences(told['position'].dataSync(), outputs.position.map(Math.expm1))).toEqual([]);
    expect(told['pixels'].shape).toEqual([1, 16, 16, 1]);
    expect(told['pixels'].dataSync()[0]).toBeCloseTo(0.25 * 255, 4);
  });

  it('are the same on every machine', async () => {
    const results = [];
    const f = (params: TensorRecord, x: TensorRecord) => {
      const out = losses(params, x);
      return { ...out.losses, ...out.entropies, features: out.features };
    };
    for (const machine of await loadableMachines()) {
      results.push(await onMachine(machine, f, someParams(nets), batchOf(everything, 2)));
    }
    const [first, ...others] = results;
    for (const other of others) {
      for (const [name, { data }] of Object.entries(first))
        expect(differences(other[name].data, data, 1e-3), name).toEqual([]);
    }
    await useBackend('cpu');
  });
});

describe('encoder', () => {
  it('reads observations by name, in any order', () => {
    const { class: c, position } = everything;
    const [one, other] = [
      { position, class: c },
      { class: c, position },
    ].map((observations) => dreamerNets({ observations, actions: two, size: 'debug' }));
    const params = tensors(someParams(one));
    const seen = { position: tf.tensor2d([[1, -2, 3]]), class: tf.tensor1d([2], 'int32') };
    const tokens = [one, other].map((nets) => [...nets.encoder.apply(nets.parts(params).enc, seen).dataSync()]);
    expect(tokens[0]).toEqual(tokens[1]);
    // By hand: class comes before position; the first layer's first unit before its norm.
    const kernel = params['enc/mlp/0/kernel'];
    const x = [0, 0, 1, 0, Math.log(2), -Math.log(3), Math.log(4)];
    expect(kernel.shape).toEqual([7, 8]);
    const rows = kernel.arraySync() as number[][];
    const h = rows[0].map((_, unit) =>
      x.reduce((sum, value, i) => sum + value * rows[i][unit], params['enc/mlp/0/bias'].dataSync()[unit]),
    );
    const scale = params['enc/mlp/0/scale'].dataSync();
    const size = Math.sqrt(h.reduce((sum, value) => sum + value * value, 0) / 8 + 1e-4);
    const normed = h.map((value, i) => (value / size) * scale[i]);
    expect(
      differences(
        tokens[0],
        normed.map((value) => value / (1 + Math.exp(-value))),
      ),
    ).toEqual([]);
    expect(() => one.encoder.apply(one.parts(params).enc, { class: seen.class })).toThrow(
      /encoder: expected the observation position, got class/,
    );
  });

  it('decodes one-hot codes with a softmax over each, and asks for as many classes as fit', () => {
    const observations = { cards: { kind: 'codes', shape: [1, 2, 6], classes: 3 } } as const;
    const nets = dreamerNets({ observations, actions: two, size: 'debug' });
    const outputs = { cards: tf.tensor2d([[Math.log(2), 0, 0, 0, Math.log(2), 0, 0, 0, 0, 0, 0, 0]]) };
    const cards = tf.tensor4d([1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0], [1, 1, 2, 6]);
    const { cards: loss } = nets.decoder.losses(outputs, { cards });
    // Chances 1/2 and 1/4 and 1/3 of what is there; the last code is of zeros.
    expect(loss.dataSync()[0]).toBeCloseTo(Math.log(2) + Math.log(4) + Math.log(3), 5);
    const predicted = nets.decoder.predictions(outputs)['cards'];
    expect(predicted.shape).toEqual([1, 1, 2, 6]);
    const third = [1 / 3, 1 / 3, 1 / 3];
    expect(differences(predicted.dataSync(), [0.5, 0.25, 0.25, 0.25, 0.5, 0.25, ...third, ...third])).toEqual([]);
    const bad = { cards: { ...observations.cards, classes: 4 } };
    expect(() => dreamerNets({ observations: bad, actions: two })).toThrow(/divide the last dimension/);
  });

  it('makes observations of the shapes of an input encoder', () => {
    expect(dreamerObservations({ planes: [4, 4, 7], vector: [9] })).toEqual({
      planes: { kind: 'planes', shape: [4, 4, 7] },
      vector: { kind: 'vector', size: 9 },
    });
    const kinds = { cards: { kind: 'codes', classes: 3 }, view: { kind: 'image', high: 1 } } as const;
    expect(dreamerObservations({ cards: [6], view: [16, 16, 1] }, kinds)).toEqual({
      cards: { kind: 'codes', shape: [6], classes: 3 },
      view: { kind: 'image', shape: [16, 16, 1], high: 1 },
    });
  });
});
