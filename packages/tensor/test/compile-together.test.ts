import { type NDArray, ndarray } from '@coplay/core';
import {
  type Compiled,
  compileTogether,
  type StepFunction,
  stackVariables,
  tf,
  useBackend,
  type Variables,
  variables,
} from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Statics } from '../src/compile/executor';
import type { TogetherOptions } from '../src/compile/stacked/compile-together';
import type { StackLayout } from '../src/compile/stacked/stacked-variables';
import { onnx } from './onnx-runtime';

const executors = onnx ? (['onnx', 'wasm', 'eager'] as const) : (['wasm', 'eager'] as const);
const START = [1, 10, 100];

type Options = Omit<TogetherOptions<'params'>, 'name' | 'state'> & { readonly layout?: StackLayout };

/**
 * Three members with a weight w each, and a step of theirs: y = w x for each row, then w' = w + the sum of x. With the
 * static value `factor` the outputs are multiplied by it.
 */
function together({ layout, ...options }: Options = {}) {
  const members = START.map((w) => variables({ w: ndarray(Float32Array.of(w)) }));
  const runs: Statics[] = [];
  const step: StepFunction<'params'> = ({ params }, { x }, statics) => {
    runs.push(statics);
    const y = tf.mul(tf.mul(x, params['w']), Number(statics['factor'] ?? 1));
    return { state: { params: { w: tf.add(params['w'], tf.sum(x)) } }, outputs: { y } };
  };
  const functions = compileTogether(step, {
    name: 'test/together',
    state: { params: stackVariables(members, layout) },
    ...options,
  });
  return { members, functions, runs };
}

const rows = (...values: number[]) => ({ x: ndarray(Float32Array.from(values)) });
const numbers = ({ data }: NDArray) => Array.from(data);

async function weights(members: readonly Variables[]): Promise<number[]> {
  const all = await Promise.all(members.map((member) => member.read()));
  return all.map((arrays) => arrays['w'].data[0]);
}

async function answers(calls: readonly ReturnType<Compiled>[]): Promise<number[][]> {
  return (await Promise.all(calls)).map(({ y }) => numbers(y));
}

beforeAll(async () => {
  await useBackend('cpu');
});

describe.each(executors)('compileTogether with %s', (executor) => {
  it.each(['flat', 'apart'] as const)('does for each member what is its own, call after call: %s', async (layout) => {
    const { functions, members } = together({ executor, layout });
    const calls = (...x: number[][]) => answers(functions.map((fn, member) => fn(rows(...x[member]))));
    expect(await calls([1, 2], [3, 4], [5, 6])).toEqual([
      [1, 2],
      [30, 40],
      [500, 600],
    ]);
    expect(await weights(members)).toEqual([4, 17, 111]);
    expect(await calls([1, 1], [1, 0], [0, 1])).toEqual([
      [4, 4],
      [17, 0],
      [0, 111],
    ]);
    expect(await weights(members)).toEqual([6, 18, 112]);
  });

  it('leaves those as they were that make no call, be they few or many', async () => {
    const { functions, members } = together({ executor });
    expect(await answers([functions[0](rows(1, 2)), functions[2](rows(3, 4))])).toEqual([
      [1, 2],
      [300, 400],
    ]);
    expect(await weights(members)).toEqual([4, 10, 107]);
    expect(await answers([functions[1](rows(1, 2))])).toEqual([[10, 20]]);
    expect(await weights(members)).toEqual([4, 13, 107]);
    expect(await answers(functions.map((fn) => fn(rows(1, 0))))).toEqual([
      [4, 0],
      [13, 0],
      [107, 0],
    ]);
  });

  it('answers a member that calls twice in a turn one call after the other', async () => {
    const { functions, members } = together({ executor });
    const [a, b] = [functions[0], functions[1]];
    expect(await answers([a(rows(1)), b(rows(2)), a(rows(3))])).toEqual([[1], [20], [6]]);
    expect(await weights(members)).toEqual([5, 12, 100]);
  });

  it('hands static values to the function; calls with others are computed one by one', async () => {
    const { functions, members, runs } = together({ executor });
    expect(await answers(functions.map((fn) => fn(rows(1, 2), { factor: 3 })))).toEqual([
      [3, 6],
      [30, 60],
      [300, 600],
    ]);
    expect(await answers(functions.map((fn, member) => fn(rows(1), { factor: member })))).toEqual([[0], [13], [206]]);
    expect(await weights(members)).toEqual([5, 14, 104]);
    expect(new Set(runs.map(({ factor }) => factor))).toEqual(new Set([3, 0, 1, 2]));
  });

  it('leaves a member as it was whose outputs are refused, and no other', async () => {
    const { functions, members } = together({
      executor,
      acceptState: ({ y }, member) => member !== 1 || y.data[0] < 100,
    });
    await Promise.all(functions.map((fn) => fn(rows(10))));
    expect(await weights(members)).toEqual([11, 10, 110]); // 10 x 10 is refused
    await Promise.all(functions.map((fn) => fn(rows(9))));
    expect(await weights(members)).toEqual([20, 19, 119]);
    await functions[1](rows(7)); // 133, alone
    expect(await weights(members)).toEqual([20, 19, 119]);
  });

  it('goes on after a call that fails', async () => {
    const { functions, members } = together({ executor });
    const bad = { z: ndarray(Float32Array.of(1)) } as never;
    const outcomes = await Promise.allSettled(functions.map((fn) => fn(bad)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await weights(members)).toEqual(START);
    expect(await answers(functions.map((fn) => fn(rows(1))))).toEqual([[1], [10], [100]]);
  });

  it('tells a member alone that its inputs are no arrays', async () => {
    const { functions, members } = together({ executor });
    const outcomes = await Promise.allSettled([
      functions[0](rows(1)),
      functions[1]({ x: 3 } as never),
      functions[2](rows(1)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await weights(members)).toEqual([2, 10, 101]);
  });

  it('computes calls that cannot be stacked one by one', async () => {
    const { functions, members } = together({ executor });
    expect(await answers([functions[0](rows(1, 2, 3)), functions[1](rows(4, 5)), functions[2](rows(6))])).toEqual([
      [1, 2, 3],
      [40, 50],
      [600],
    ]);
    expect(await weights(members)).toEqual([7, 19, 106]);
  });
});

describe('compileTogether', () => {
  it.runIf(onnx)('traces one graph for all, and one for a member that calls alone', async () => {
    const { functions, runs } = together({ executor: 'onnx' });
    await Promise.all(functions.map((fn) => fn(rows(1, 2))));
    await Promise.all(functions.map((fn) => fn(rows(3, 4))));
    await Promise.all([functions[2](rows(5, 6)), functions[1](rows(7, 8))]); // most of three
    expect(runs).toHaveLength(1);
    await functions[1](rows(1, 2));
    expect(runs).toHaveLength(2);
  });

  it('gives each call memory of its own', async () => {
    const { functions } = together();
    const [first, second] = await Promise.all(functions.map((fn) => fn(rows(1))));
    expect(first['y'].data.buffer).not.toBe(second['y'].data.buffer);
  });

  it.each(executors)('goes on for the others when one and its variables are disposed, with %s', async (executor) => {
    const { functions, members } = together({ executor });
    await Promise.all(functions.map((fn) => fn(rows(1))));
    functions[0].dispose();
    members[0].dispose();
    expect(await answers([functions[1](rows(1)), functions[2](rows(2))])).toEqual([[11], [202]]);
    expect(await weights(members.slice(1))).toEqual([12, 103]);
    await expect(functions[0](rows(1))).rejects.toThrow(/a call before dispose\(\), got one after it/);
  });

  it('says what it wants', () => {
    expect(() => compileTogether(() => ({ outputs: {} }), { name: 'f', state: {} })).toThrow(
      /state, which says how many members there are/,
    );
    const old = { name: 'f', state: {}, scan: true };
    expect(() => compileTogether(() => ({ outputs: {} }), old)).toThrow(/the unknown option "scan"/);
  });
});
