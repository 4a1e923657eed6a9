import { createGenerator, type NamedArrays, type NDArray, ndarray } from '@coplay/core';
import { rssm } from '@coplay/models/dreamer';
import { initialise } from '@coplay/models/layers';
import { type TensorRecord, tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { differences, floats, loadableMachines, onMachine, wave } from '../../../test/machines';

beforeAll(async () => {
  await useBackend('cpu');
});

const [B, T, D, S, C, A, E] = [3, 4, 8, 2, 3, 2, 5];
const model = rssm({ deter: D, hidden: 6, stoch: S, classes: C, blocks: 2, actions: A, tokens: E });

/** Parameters of which none is 0, so that everything has an effect. */
const params: NamedArrays = Object.fromEntries(
  Object.entries(model.specs).map(([name, { shape }], i) => [name, wave(shape, i, name.endsWith('scale') ? 1 : 0)]),
);

/** Sequences of random numbers. */
function sequences(): Record<'deter' | 'stoch' | 'tokens' | 'actions' | 'isFirst' | 'noise', NDArray<Float32Array>> {
  const generator = createGenerator(7);
  const draw = (...shape: number[]) =>
    ndarray(
      Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => generator.uniform()),
      shape,
    );
  return {
    deter: draw(B, D),
    stoch: draw(B, S, C),
    tokens: draw(B, T, E),
    actions: draw(B, T, A),
    isFirst: ndarray(new Float32Array(B * T), [B, T]),
    noise: draw(B, T, S),
  };
}

type Sequences = ReturnType<typeof sequences>;

/** [B, T, ...] of everything that comes out, row by row and step by step. */
function observe(given: Record<string, NDArray>): number[][][] {
  return tf.tidy(() => {
    const x = tensors(given);
    const { deter, stoch, logits } = observeTensors(tensors(params), x);
    const [rows, steps] = deter.shape;
    const flat = [deter, stoch, logits].map((y) => tf.reshape(y, [rows, steps, -1]));
    return tf.concat(flat, 2).arraySync() as number[][][];
  });
}

function observeTensors(weights: TensorRecord, x: TensorRecord) {
  const { deter, stoch, tokens, actions, isFirst, noise } = x as never as Record<keyof Sequences, never>;
  return model.observe(weights, { deter, stoch }, { tokens, actions, isFirst }, noise);
}

function tensors(arrays: Record<string, NDArray>): TensorRecord {
  return Object.fromEntries(
    Object.entries(arrays).map(([name, { data, shape }]) => [name, tf.tensor(data as Float32Array, [...shape])]),
  );
}

/** Another number wherever `where` says so, by row and step. */
function changed(x: NDArray<Float32Array>, where: (row: number, step: number) => boolean): NDArray<Float32Array> {
  const [, steps] = x.shape;
  const size = x.data.length / (B * steps);
  const data = x.data.map((value, i) =>
    where(Math.floor(i / size / steps), Math.floor(i / size) % steps) ? 1 - value : value,
  );
  return ndarray(data, x.shape);
}

describe('rssm.observe', () => {
  it('treats rows independently: permuted rows give permuted outputs', () => {
    const order = [2, 0, 1];
    const permuted = Object.fromEntries(
      Object.entries(sequences()).map(([name, { data, shape }]) => {
        const size = data.length / B;
        const rows = order.flatMap((row) => [...data.slice(row * size, (row + 1) * size)]);
        return [name, floats(rows, shape)];
      }),
    );
    const expected = observe(sequences());
    expect(observe(permuted)).toEqual(order.map((row) => expected[row]));
  });

  it('forgets everything before isFirst: state, observations, actions, also the action into the first step', () => {
    const given = sequences();
    given.isFirst.data[1 * T + 2] = 1; // row 1, step 2
    const other = {
      ...given,
      deter: changed({ ...given.deter, shape: [B, 1, D] }, () => true),
      stoch: changed({ ...given.stoch, shape: [B, 1, S * C] }, () => true),
      tokens: changed(given.tokens, (_, t) => t < 2),
      actions: changed(given.actions, (_, t) => t <= 2),
    };
    other.deter = ndarray(other.deter.data, [B, D]);
    other.stoch = ndarray(other.stoch.data, [B, S, C]);
    const [before, after] = [observe(given), observe(other)];
    expect(after[1].slice(2)).toEqual(before[1].slice(2));
    for (const [row, t] of [
      [1, 0],
      [1, 1],
      [0, 2],
      [2, 3],
    ])
      expect(after[row][t]).not.toEqual(before[row][t]);
  });

  it('at isFirst the state is the core of zeros, not zeros', () => {
    const given = sequences();
    given.isFirst.data.fill(1, 0, 1);
    const [h] = observe(given)[0];
    const zeros = {
      ...given,
      deter: floats(Array(B * D).fill(0), [B, D]),
      stoch: floats(Array(B * S * C).fill(0), [B, S, C]),
    };
    zeros.isFirst = ndarray(new Float32Array(B * T), [B, T]);
    zeros.actions = ndarray(new Float32Array(B * T * A), [B, T, A]);
    expect(h).toEqual(observe(zeros)[0][0]);
    expect(h.slice(0, D).every((x) => x !== 0)).toBe(true);
  });

  it('the action of index t moves the state of step t, and none before', () => {
    const given = sequences();
    const before = observe(given);
    const after = observe({ ...given, actions: changed(given.actions, (_, t) => t === 2) });
    for (let row = 0; row < B; row++) {
      expect(after[row].slice(0, 2)).toEqual(before[row].slice(0, 2));
      expect(after[row][2].slice(0, D)).not.toEqual(before[row][2].slice(0, D));
    }
  });

  it('the observation of step t moves the posterior of step t, but its deterministic state only later', () => {
    const given = sequences();
    const before = observe(given);
    const after = observe({ ...given, tokens: changed(given.tokens, (_, t) => t === 1), noise: given.noise });
    for (let row = 0; row < B; row++) {
      expect(after[row][0]).toEqual(before[row][0]);
      expect(after[row][1].slice(0, D)).toEqual(before[row][1].slice(0, D));
      expect(after[row][1].slice(D)).not.toEqual(before[row][1].slice(D));
    }
  });

  it('a sequence in two parts, the state carried over, is one sequence', () => {
    const given = sequences();
    given.isFirst.data[0 * T + 3] = 1;
    const whole = observe(given);
    const part = (x: NDArray<Float32Array>, from: number, to: number) => {
      const size = x.data.length / (B * T);
      const rows = [...Array(B).keys()].flatMap((row) => [
        ...x.data.slice((row * T + from) * size, (row * T + to) * size),
      ]);
      return floats(rows, [B, to - from, ...x.shape.slice(2)]);
    };
    const cut = (from: number, to: number) => ({
      tokens: part(given.tokens, from, to),
      actions: part(given.actions, from, to),
      isFirst: part(given.isFirst, from, to),
      noise: part(given.noise, from, to),
    });
    const first = observe({ ...given, ...cut(0, 2) });
    const last = first.map((row) => row[1]);
    const second = observe({
      deter: floats(
        last.flatMap((x) => x.slice(0, D)),
        [B, D],
      ),
      stoch: floats(
        last.flatMap((x) => x.slice(D, D + S * C)),
        [B, S, C],
      ),
      ...cut(2, 4),
    });
    expect(first.map((row, i) => [...row, ...second[i]])).toEqual(whole);
  });

  it('cuts actions at -1 and 1', () => {
    const given = sequences();
    const far = {
      ...given,
      actions: ndarray(
        given.actions.data.map((_, i) => (i % 2 === 0 ? 5 : -3)),
        given.actions.shape,
      ),
    };
    const near = {
      ...given,
      actions: ndarray(
        given.actions.data.map((_, i) => (i % 2 === 0 ? 1 : -1)),
        given.actions.shape,
      ),
    };
    expect(observe(far)).toEqual(observe(near));
  });

  it('refuses sequences that do not fit', () => {
    const given = sequences();
    expect(() => observe({ ...given, tokens: floats(Array(B * T * 4).fill(0), [B, T, 4]) })).toThrow(
      /rssm.observe: expected tokens of shape \[3, 4, 5\], got \[3, 4, 4\]/,
    );
    expect(() => rssm({ deter: 9, hidden: 2, stoch: 1, classes: 2, blocks: 2, actions: 1, tokens: 1 })).toThrow(
      /blockDense/,
    );
  });
});

describe('gradients of the recurrence', () => {
  /** sum(w y) over all outputs and its gradients by all parameters. */
  const scored = (weights: TensorRecord, x: TensorRecord): TensorRecord => {
    const names = Object.keys(weights);
    const score = (...values: tf.Tensor[]) => {
      const given = Object.fromEntries(names.map((name, i) => [name, values[i]]));
      const { deter, stoch, logits } = observeTensors(given, x);
      const terms = [deter, stoch, logits, model.prior(given, deter)].map((y, k) =>
        tf.sum(tf.mul(y, tf.cos(tf.add(tf.reshape(tf.range(0, y.size), y.shape), k)))),
      );
      return tf.addN(terms) as tf.Scalar;
    };
    const grads = tf.grads(score)(names.map((name) => weights[name]));
    return Object.fromEntries(names.map((name, i) => [name, grads[i]]));
  };

  it('are the same on every machine', async () => {
    const results = [];
    for (const machine of await loadableMachines()) results.push(await onMachine(machine, scored, params, sequences()));
    const [first, ...others] = results;
    expect(Object.values(first).every(({ data }) => data.some((x) => Math.abs(x) > 1e-4))).toBe(true);
    for (const other of others) {
      for (const [name, { data }] of Object.entries(first)) {
        const size = Math.max(...data.map(Math.abs));
        const wrong = [...data].filter((x, i) => Math.abs(x - other[name].data[i]) > 1e-4 * size);
        expect(wrong, name).toEqual([]);
      }
    }
    await useBackend('cpu');
  });

  it('are those of finite differences, up to the first sample', () => {
    const x = sequences();
    const weights = tensors(params);
    const single = Object.fromEntries(
      ['tokens', 'actions', 'isFirst', 'noise'].map((name) => {
        const whole = tensors(x)[name];
        return [name, tf.slice(whole, 0, [B, 1, ...whole.shape.slice(2)])];
      }),
    );
    const score = (name: string, value: tf.Tensor) => {
      const { deter, logits } = observeTensors({ ...weights, [name]: value }, { ...tensors(x), ...single });
      const wave = (y: tf.Tensor) => tf.sum(tf.mul(y, tf.cos(tf.reshape(tf.range(0, y.size), y.shape))));
      return tf.add(wave(deter), wave(logits)) as tf.Scalar;
    };
    for (const name of Object.keys(params).filter((key) => !key.startsWith('prior'))) {
      const value = weights[name];
      const gradient = tf.grad((y: tf.Tensor) => score(name, y))(value);
      const direction = tf.tensor(wave(value.shape, 3).data as Float32Array, value.shape);
      const step = 0.003;
      const [up, down] = [step, -step].map((s) => score(name, tf.add(value, tf.mul(direction, s))).dataSync()[0]);
      const slope = tf.sum(tf.mul(gradient, direction)).dataSync()[0];
      // The error of central differences is of the order of step^2 (1e-5), that of float32 about 1e-6 / step (3e-4).
      expect(Math.abs(slope - (up - down) / (2 * step)), name).toBeLessThan(1e-3 * Math.max(1, Math.abs(slope)));
    }
  });
});

describe('initial parameters', () => {
  it('are cut normal with the variance 1 / fan-in, of the whole input for blocks', () => {
    const big = rssm({ deter: 256, hidden: 32, stoch: 8, classes: 8, blocks: 8, actions: 2, tokens: 16 });
    const start = big.init(createGenerator(3));
    const variance = (name: string) => {
      const data = start[name].data as Float32Array;
      return data.reduce((sum, x) => sum + x * x, 0) / data.length;
    };
    // Some thousand numbers: the variance is right to a few percent.
    for (const [name, fanIn] of Object.entries({
      'dynin0/kernel': 256,
      'dyngru/kernel': 256,
      'dynhid0/kernel': 256 + 3 * 8 * 32,
      'obs0/kernel': 272,
    })) {
      expect(Math.abs(variance(name) * fanIn - 1), name).toBeLessThan(0.06);
      const limit = (2 * 1.1368) / Math.sqrt(fanIn);
      const largest = Math.max(...(start[name].data as Float32Array).map(Math.abs));
      expect(largest).toBeLessThanOrEqual(limit * (1 + 1e-6));
      expect(largest).toBeGreaterThan(0.95 * limit);
    }
    expect(differences(start['dyngru/bias'].data, Array(768).fill(0))).toEqual([]);
    expect(differences(start['prior0/scale'].data, Array(32).fill(1))).toEqual([]);
  });

  it('refuses a fan-in of 0', () => {
    expect(() => initialise({ kernel: { shape: [0, 2], start: { fanIn: 0, scale: 1 } } }, createGenerator(1))).toThrow(
      /fan-in of 1 or more for kernel/,
    );
  });
});
