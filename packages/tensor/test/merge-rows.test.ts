import { type NamedArrays, ndarray } from '@coplay/core';
import { type Compiled, compile, mergeRows, tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Statics } from '../src/compile/executor';
import { onnx } from './onnx-runtime';

/** A function of rows that keeps what it was asked. */
function spied(answer: (inputs: NamedArrays) => NamedArrays) {
  const asked: NamedArrays[] = [];
  let disposals = 0;
  const compiled = Object.assign(
    async (inputs: NamedArrays) => {
      asked.push(inputs);
      return answer(inputs);
    },
    { dispose: () => void disposals++ },
  ) as Compiled;
  return { asked, merged: mergeRows(compiled), disposals: () => disposals };
}

const floats = (values: readonly number[], shape: readonly number[]) => ndarray(Float32Array.from(values), shape);

/** y = 2 x and the rows' numbers n, negated. */
const twice = ({ x, n }: NamedArrays): NamedArrays => ({
  y: { data: (x.data as Float32Array).map((value) => 2 * value), shape: x.shape },
  minus: { data: (n.data as Int32Array).map((value) => -value), shape: n.shape },
});

beforeAll(async () => {
  await useBackend('cpu');
});

describe('mergeRows', () => {
  it('runs calls of other numbers of rows as one batch, and gives each its own rows', async () => {
    const { asked, merged } = spied(twice);
    const [first, second, third] = await Promise.all([
      merged({ x: floats([1, 2, 3, 4], [2, 2]), n: ndarray(Int32Array.of(1, 2)) }),
      merged({ x: floats([5, 6], [1, 2]), n: ndarray(Int32Array.of(3)) }),
      merged({ x: floats([7, 8, 9, 10, 11, 12], [3, 2]), n: ndarray(Int32Array.of(4, 5, 6)) }),
    ]);
    expect(asked).toEqual([
      { x: floats([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [6, 2]), n: ndarray(Int32Array.of(1, 2, 3, 4, 5, 6)) },
    ]);
    expect(first).toEqual({ y: floats([2, 4, 6, 8], [2, 2]), minus: ndarray(Int32Array.of(-1, -2)) });
    expect(second).toEqual({ y: floats([10, 12], [1, 2]), minus: ndarray(Int32Array.of(-3)) });
    expect(third).toEqual({ y: floats([14, 16, 18, 20, 22, 24], [3, 2]), minus: ndarray(Int32Array.of(-4, -5, -6)) });
  });

  it('gives each call memory of its own', async () => {
    const { merged } = spied(twice);
    const inputs = () => ({ x: floats([1, 2], [1, 2]), n: ndarray(Int32Array.of(1)) });
    const [first, second] = await Promise.all([merged(inputs()), merged(inputs())]);
    first['y'].data.fill(0);
    expect(second['y']).toEqual(floats([2, 4], [1, 2]));
    expect(first['y'].data.buffer).not.toBe(second['y'].data.buffer);
  });

  it('finds inputs by name, in any order', async () => {
    const { merged } = spied(twice);
    const [first, second] = await Promise.all([
      merged({ x: floats([1], [1, 1]), n: ndarray(Int32Array.of(1)) }),
      merged({ n: ndarray(Int32Array.of(2)), x: floats([3], [1, 1]) }),
    ]);
    expect([first['y'].data[0], second['y'].data[0]]).toEqual([2, 6]);
  });

  it('cuts outputs [B T] of sequences [B, T] in proportion', async () => {
    // What a critic of sequences gives: a value for each step, and a last state for each row.
    const values = ({ x }: NamedArrays): NamedArrays => ({
      values: { data: x.data, shape: [x.data.length] },
      states: { data: (x.data as Float32Array).filter((_, i) => i % 3 === 2), shape: [x.shape[0], 1] },
    });
    const { asked, merged } = spied(values);
    const [first, second] = await Promise.all([
      merged({ x: floats([1, 2, 3, 4, 5, 6], [2, 3]) }),
      merged({ x: floats([7, 8, 9], [1, 3]) }),
    ]);
    expect(asked.map(({ x }) => x.shape)).toEqual([[3, 3]]);
    expect(first).toEqual({ values: floats([1, 2, 3, 4, 5, 6], [6]), states: floats([3, 6], [2, 1]) });
    expect(second).toEqual({ values: floats([7, 8, 9], [3]), states: floats([9], [1, 1]) });
  });

  it.each<[string, NamedArrays]>([
    ['shapes of rows', { x: floats([1, 2, 3], [1, 3]), n: ndarray(Int32Array.of(1)) }],
    ['dtypes', { x: ndarray(Float64Array.of(1, 2), [1, 2]), n: ndarray(Int32Array.of(1)) }],
    ['names', { x: floats([1, 2], [1, 2]), n: ndarray(Int32Array.of(1)), more: floats([1], [1]) }],
  ])('leaves calls with other %s apart', async (_, other) => {
    const { asked, merged } = spied(twice);
    const own = { x: floats([3, 4], [1, 2]), n: ndarray(Int32Array.of(5)) };
    const [first, second] = await Promise.all([merged(own), merged(other)]);
    expect(asked).toEqual([own, other]);
    expect(first).toEqual(twice(own));
    expect(second).toEqual(twice(other));
  });

  it('merges calls with equal static values alone, and hands them on', async () => {
    const factors: unknown[] = [];
    const times = Object.assign(
      async ({ x }: NamedArrays, statics: Statics = {}) => {
        factors.push(statics['factor'] ?? 'none');
        return { y: { data: x.data.map((value) => value * Number(statics['factor'] ?? 1)), shape: x.shape } };
      },
      { dispose: () => undefined },
    ) as unknown as Compiled;
    const merged = mergeRows(times);
    const x = () => floats([1, 2], [2, 1]);
    const same = await Promise.all([merged({ x: x() }, { factor: 3 }), merged({ x: x() }, { factor: 3 })]);
    expect(same.map(({ y }) => Array.from(y.data))).toEqual([
      [3, 6],
      [3, 6],
    ]);
    const other = await Promise.all([merged({ x: x() }, { factor: 2 }), merged({ x: x() }, { factor: 5 })]);
    expect(other.map(({ y }) => Array.from(y.data))).toEqual([
      [2, 4],
      [5, 10],
    ]);
    expect(factors).toEqual([3, 2, 5]);
  });

  it('gives no rows for none', async () => {
    const { asked, merged } = spied(twice);
    const none = () => ({ x: floats([], [0, 2]), n: ndarray(new Int32Array(0)) });
    const [first, second] = await Promise.all([merged(none()), merged(none())]);
    expect(asked).toHaveLength(1);
    expect([first['y'].shape, second['minus'].shape]).toEqual([[0, 2], [0]]);
    const some = { x: floats([1, 2], [1, 2]), n: ndarray(Int32Array.of(7)) };
    const [third, fourth] = await Promise.all([merged(none()), merged(some)]);
    expect(third['y'].shape).toEqual([0, 2]);
    expect(fourth).toEqual(twice(some));
  });

  it('refuses what has no rows, of the inputs for their caller alone', async () => {
    const { merged } = spied(twice);
    const good = { x: floats([1, 2], [1, 2]), n: ndarray(Int32Array.of(1)) };
    const bad: [unknown, RegExp][] = [
      [{}, /mergeRows: expected inputs \[B, \.\.\.\] .* got none/],
      [{ x: floats([1], []) }, /got x of shape \[\]/],
      [{ x: floats([1, 2], [2, 1]), n: ndarray(Int32Array.of(1)) }, /got n of shape \[1\]/],
      [{ x: 3 }, /inputs\.x to be an array/],
    ];
    for (const [inputs, message] of bad) {
      const [outcome, other] = await Promise.allSettled([merged(inputs as NamedArrays), merged(good)]);
      expect(outcome.status).toBe('rejected');
      expect((outcome as PromiseRejectedResult).reason.message).toMatch(message);
      expect(other.status).toBe('fulfilled');
    }
    const mean = spied(() => ({ mean: floats([1], [1]) })).merged;
    const outcomes = await Promise.allSettled([mean(good), mean(good)]);
    expect((outcomes[0] as PromiseRejectedResult).reason.message).toMatch(/mean of shape \[B, \.\.\.\].*got \[1\]/);
  });

  it('passes a single call on as it is', async () => {
    const { asked, merged } = spied(twice);
    const inputs = { x: floats([1, 2], [1, 2]), n: ndarray(Int32Array.of(3)) };
    expect(await merged(inputs)).toEqual(twice(inputs));
    expect(asked).toHaveLength(1);
    expect(asked[0]).toBe(inputs);
  });

  it('tells all callers of a failure, and goes on', async () => {
    const { merged } = spied((inputs) => {
      if (inputs['x'].data.includes(13)) throw new Error('unlucky');
      return twice(inputs);
    });
    const inputs = (x: number) => ({ x: floats([x], [1, 1]), n: ndarray(Int32Array.of(1)) });
    const outcomes = await Promise.allSettled([merged(inputs(1)), merged(inputs(13))]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect((await merged(inputs(2)))['y'].data[0]).toBe(4);
  });

  it('disposes what it wraps', () => {
    const { merged, disposals } = spied(twice);
    merged.dispose();
    expect(disposals()).toBe(1);
  });

  it.each(onnx ? (['onnx', 'wasm', 'eager'] as const) : (['wasm', 'eager'] as const))(
    'answers as the function alone does, with %s',
    async (executor) => {
      const fn = compile((_, { x }) => ({ outputs: { y: tf.tanh(x), sum: tf.sum(x, 1) } }), {
        name: 'rows',
        executor,
      });
      const merged = mergeRows(fn);
      const inputs = [floats([0.1, -0.2, 0.3, 0.4], [2, 2]), floats([0.5, 0.6], [1, 2])];
      const got = await Promise.all(inputs.map((x) => merged({ x })));
      got.forEach(({ y, sum }, i) => {
        const { data, shape } = inputs[i];
        expect([y.shape, sum.shape]).toEqual([shape, [shape[0]]]);
        for (let at = 0; at < data.length; at++) expect(y.data[at]).toBeCloseTo(Math.tanh(data[at]), 6);
        for (let row = 0; row < shape[0]; row++) {
          expect(sum.data[row]).toBeCloseTo(data[2 * row] + data[2 * row + 1], 6);
        }
      });
      merged.dispose();
    },
  );
});
