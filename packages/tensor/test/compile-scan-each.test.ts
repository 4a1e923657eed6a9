import { type NDArray, ndarray } from '@coplay/core';
import {
  compile,
  compileScanEach,
  type ScanInputs,
  type StepFunction,
  tf,
  useBackend,
  type Variables,
  variables,
} from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ScanEachOptions } from '../src/compile/each/compile-each';
import { needsOnnx, onnx } from './onnx-runtime';

const executors = onnx ? (['onnx', 'wasm', 'eager'] as const) : (['wasm', 'eager'] as const);
const START = [1, 10, 100];

/** Three members with a weight w each, which a step multiplies by the factor and adds x to. */
function members(options: Partial<Omit<ScanEachOptions<'params'>, 'states' | 'name'>> = {}) {
  const params = START.map((w) => variables({ w: ndarray(Float32Array.of(w)) }));
  let runs = 0;
  const step: StepFunction<'params', ScanInputs> = ({ params: { w } }, { each, shared }) => {
    runs++;
    const next = tf.add(tf.mul(w, shared['factor']), each['x']);
    return { state: { params: { w: next } }, outputs: { w: next } };
  };
  const functions = compileScanEach(step, {
    name: 'test/each',
    states: params.map((own) => ({ params: own })),
    ...options,
  });
  return { params, functions, runs: () => runs };
}

const inputs = (factor: number, ...x: number[]) => ({
  each: { x: ndarray(Float32Array.from(x)) },
  shared: { factor: ndarray(Float32Array.of(factor), []) },
});
const numbers = ({ data }: NDArray) => Array.from(data);

async function weights(params: readonly Variables[]): Promise<number[]> {
  const all = await Promise.all(params.map((own) => own.read()));
  return all.map((arrays) => arrays['w'].data[0]);
}

beforeAll(async () => {
  await useBackend('cpu');
});

describe.each(executors)('compileScanEach with %s', (executor) => {
  it('repeats steps for each member over its own variables, for any order of calls', async () => {
    const { params, functions } = members({ executor });
    const [a, b, c] = functions;
    const all = await Promise.all([c(inputs(2, 0, 1)), a(inputs(1, 2, 3)), c(inputs(0, 7)), b(inputs(1, 1))]);
    expect(all.map(({ w }) => numbers(w))).toEqual([[200, 401], [3, 6], [7], [11]]);
    expect(all[0]['w'].shape).toEqual([2, 1]);
    expect(await weights(params)).toEqual([6, 11, 7]);
    await b(inputs(3, 0));
    expect(await weights(params)).toEqual([6, 33, 7]);
  });

  it('leaves a member as it was whose outputs are refused, and no other', async () => {
    const { params, functions } = members({ executor, acceptState: ({ w }) => numbers(w).every((x) => x < 50) });
    await Promise.all(functions.map((fn) => fn(inputs(1, 1, 1))));
    expect(await weights(params)).toEqual([3, 12, 100]);
  });

  it('goes on after a call that fails', async () => {
    const { params, functions } = members({ executor });
    const bad = { each: { z: ndarray(Float32Array.of(1)) }, shared: {} };
    const outcomes = await Promise.allSettled([functions[0](bad), functions[1](inputs(1, 5))]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await weights(params)).toEqual([1, 15, 100]);
  });
});

// The tests' environment asks for one thread; `fixed` leaves it open, and then calls run in other threads.
describe.skipIf(!onnx)(`compileScanEach in several threads${needsOnnx}`, () => {
  const threads = 'fixed';

  it('computes what it computes in one, to the bit', async () => {
    const [one, several] = await Promise.all(
      ([1, threads] as const).map(async (own) => {
        const { functions, params } = members({ executor: 'onnx', threads: own });
        const factors = [0.1, 0.7, 1.3];
        for (let i = 0; i < 20; i++) {
          await Promise.all(functions.map((fn, member) => fn(inputs(factors[member], i / 3, 1 / (i + 1)))));
        }
        return weights(params);
      }),
    );
    expect(several).toEqual(one);
  });

  it('answers in order, and others that share the variables wait', async () => {
    const { functions, params } = members({ executor: 'onnx', threads });
    const look = compile<'params'>(({ params: { w } }) => ({ outputs: { w } }), {
      name: 'look',
      state: { params: params[2] },
      executor: 'onnx',
    });
    const calls = [
      functions[2](inputs(2, 0)),
      look({}),
      functions[2](inputs(1, 1)),
      functions[0](inputs(1, 1)),
      look({}),
    ];
    const all = await Promise.all(calls);
    expect(all.map(({ w }) => w.data[0])).toEqual([200, 200, 201, 2, 201]);
  });

  it('explains a run that fails there, changes nothing then, and goes on', async () => {
    const params = START.map((w) => variables({ w: ndarray(Float32Array.of(w)) }));
    const step: StepFunction<'params', ScanInputs> = ({ params: { w } }, { each, shared }) => {
      const next = tf.add(w, tf.gather(shared['table'], each['row'] as tf.Tensor1D));
      return { state: { params: { w: next } }, outputs: { w: next } };
    };
    const states = params.map((own) => ({ params: own }));
    const functions = compileScanEach(step, { name: 'rows', states, executor: 'onnx', threads });
    const call = (member: number, row: number) => {
      const each = { row: ndarray(Int32Array.of(0, row), [2, 1]) };
      return functions[member]({ each, shared: { table: ndarray(Float32Array.of(1, 2)) } });
    };
    const outcomes = await Promise.allSettled([call(0, 1), call(1, 7), call(2, 0)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((outcomes[1] as PromiseRejectedResult).reason.message).toMatch(
      /^compiled function rows: expected a graph that runs, got .*Gather.*The state is as it was/,
    );
    expect(await weights(params)).toEqual([4, 10, 102]);
    await call(1, 1);
    expect(await weights(params)).toEqual([4, 13, 102]);
  });

  it('leaves the inputs and the variables of the caller where they are', async () => {
    const { functions, params } = members({ executor: 'onnx', threads });
    const given = inputs(1, 5, 6);
    const whole = new Float32Array(100).fill(3);
    const view = { each: { x: ndarray(whole.subarray(10, 12)) }, shared: given.shared };
    await Promise.all([functions[0](given), functions[1](view)]);
    expect([numbers(given.each.x), whole.length, await weights(params)]).toEqual([[5, 6], 100, [12, 16, 100]]);
  });
});

describe('compileScanEach', () => {
  it.runIf(onnx)('traces once for all members', async () => {
    const { functions, runs } = members({ executor: 'onnx' });
    await Promise.all(functions.map((fn) => fn(inputs(1, 1, 2))));
    expect(runs()).toBe(1);
    await functions[2](inputs(1, 1));
    expect(runs()).toBe(2); // another number of steps
  });

  it('says what it wants', () => {
    const step: StepFunction<'params', ScanInputs> = () => ({ outputs: {} });
    const states = [1, 2].map((size) => ({ params: variables({ w: ndarray(new Float32Array(size)) }) }));
    expect(() => compileScanEach(step, { name: 'f', states })).toThrow(
      /variables like the first member's: params: w float32 \[1\], got params: w float32 \[2\]/,
    );
    expect(() => compileScanEach<'params'>(step, { name: 'f', states: [] })).toThrow(/states of at least one member/);
  });

  it.each(executors)('goes on for the others when one and its variables are disposed, with %s', async (executor) => {
    const { functions, params } = members({ executor });
    await Promise.all(functions.map((fn) => fn(inputs(1, 1))));
    functions[0].dispose();
    params[0].dispose();
    expect(numbers((await functions[1](inputs(1, 1)))['w'])).toEqual([12]);
    await expect(functions[0](inputs(1, 1))).rejects.toThrow(/a call before dispose\(\)/);
  });
});
