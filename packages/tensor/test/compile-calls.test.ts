import { ndarray } from '@coplay/core';
import {
  compile,
  type ExecutorName,
  operationTimes,
  type TensorRecord,
  tf,
  useBackend,
  type Variables,
  variables,
} from '@coplay/tensor';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { needsOnnx, onnx } from './onnx-runtime';

type Groups = Record<'params', TensorRecord>;

const scalar = (value: number) => ndarray(Float32Array.of(value), []);
const totalOf = async (params: Variables) => (await params.read())['total']!.data[0];

/** total' = factor total + x: other orders give other totals. */
function affine(params: Variables, factor: number, executor: ExecutorName, name = `times ${factor}`) {
  return compile(
    ({ params: { total } }: Groups, { x }) => {
      const next = tf.add(tf.mul(total!, factor), x!);
      return { state: { params: { total: next } }, outputs: { total: next } };
    },
    { name, state: { params }, executor },
  );
}

beforeAll(async () => {
  await useBackend('cpu');
});
afterEach(() => vi.restoreAllMocks());

const executors: ExecutorName[] = onnx ? ['onnx', 'wasm', 'eager'] : ['wasm', 'eager'];

describe.each(executors)('calls that nobody awaits, %s', (executor) => {
  it('run in order, over several functions that share variables', async () => {
    const params = variables({ total: scalar(1) });
    const [twice, thrice] = [affine(params, 2, executor), affine(params, 3, executor)];
    await thrice({ x: scalar(0) }); // 3; thrice is ready to run, twice isn't
    const calls = [
      twice({ x: scalar(1) }), // 7
      thrice({ x: scalar(2) }), // 23
      twice({ x: scalar(3) }), // 49
    ];
    expect((await Promise.all(calls)).map(({ total }) => total!.data[0])).toEqual([7, 23, 49]);
    expect(await totalOf(params)).toBe(49);
  });

  it('go on after one that fails, which changes nothing', async () => {
    const params = variables({ total: scalar(1) });
    const twice = affine(params, 2, executor);
    const failing = compile(
      ({ params: { total } }: Groups, { x }) => ({
        state: { params: { total: tf.add(total!, 100) } },
        outputs: { y: tf.reshape(x!, [7]) },
      }),
      { name: 'failing', state: { params }, executor },
    );
    const calls = [twice({ x: scalar(1) }), failing({ x: scalar(1) }), twice({ x: scalar(1) })];
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(String((outcomes[1] as PromiseRejectedResult).reason)).toMatch(/compiled function failing: /);
    expect(await totalOf(params)).toBe(7);
  });

  it('see what eager code reads and writes between them', async () => {
    const params = variables({ total: scalar(1) });
    const twice = affine(params, 2, executor);
    const before = tf.tidy(() => tf.add(params.tensors()['total']!, 1).dataSync()[0]);
    await twice({ x: scalar(0) });
    const between = params.tensors()['total']!.dataSync()[0];
    params.write({ total: scalar(10) });
    await twice({ x: scalar(1) });
    expect([before, between, params.tensors()['total']!.dataSync()[0], await totalOf(params)]).toEqual([2, 2, 21, 21]);
  });

  it('are made by two executors over the same variables', async () => {
    const params = variables({ total: scalar(1) });
    const other = affine(params, 3, 'eager');
    const twice = affine(params, 2, executor);
    await Promise.all([
      twice({ x: scalar(0) }),
      other({ x: scalar(1) }),
      twice({ x: scalar(1) }),
      other({ x: scalar(0) }),
    ]);
    expect(await totalOf(params)).toBe(45); // 2, 7, 15, 45
  });

  it('still run if the function is disposed of after they were made', async () => {
    const params = variables({ total: scalar(1) });
    const twice = affine(params, 2, executor);
    const calls = [twice({ x: scalar(0) }), twice({ x: scalar(0) })];
    twice.dispose();
    twice.dispose();
    expect((await Promise.all(calls)).map(({ total }) => total!.data[0])).toEqual([2, 4]);
    await expect(twice({ x: scalar(0) })).rejects.toThrow(/expected a call before dispose\(\)/);
    expect(await totalOf(params)).toBe(4);
  });

  it('fail with words where the variables are disposed of before they run', async () => {
    const params = variables({ total: scalar(1) });
    const call = affine(params, 2, executor)({ x: scalar(0) });
    params.dispose();
    await expect(call).rejects.toThrow(/expected variables in use, got disposed ones/);
  });
});

describe.skipIf(!onnx)(`sessions${needsOnnx}`, () => {
  it('are bounded over 100 row counts, with one warning, and released by dispose', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const create = vi.spyOn(onnx!.InferenceSession, 'create');
    const { prototype } = onnx!.InferenceSession as unknown as { prototype: { release(): Promise<void> } };
    const release = vi.spyOn(prototype, 'release');
    const sum = compile((_, { x }) => ({ outputs: { y: tf.sum(x!) } }), { name: 'sum', executor: 'onnx' });
    for (let rows = 1; rows <= 100; rows++) {
      expect((await sum({ x: ndarray(new Float32Array(rows).fill(1)) }))['y']!.data[0]).toBe(rows);
    }
    expect([create.mock.calls.length, release.mock.calls.length]).toEqual([100, 68]);
    await sum({ x: ndarray(new Float32Array(100)) });
    expect(create).toHaveBeenCalledTimes(100);
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/function sum was traced for more than 32 .*Pad its inputs/)],
    ]);
    sum.dispose();
    await affine(variables({ total: scalar(1) }), 2, 'eager')({ x: scalar(1) }); // after it, in turn
    expect(release).toHaveBeenCalledTimes(100);
  });

  it('that fail while they run say so with the name, and the state stays', async () => {
    const params = variables({ total: scalar(1) });
    const look = compile(
      ({ params: { total } }: Groups, { i }) => ({
        state: { params: { total: tf.add(total!, 1) } },
        outputs: { y: tf.gather(tf.tensor1d([5, 6, 7]), i as tf.Tensor1D) },
      }),
      { name: 'look up', state: { params }, executor: 'onnx' },
    );
    expect((await look({ i: ndarray(Int32Array.of(2, 0)) }))['y']!.data).toEqual(Float32Array.of(7, 5));
    await expect(look({ i: ndarray(Int32Array.of(3, 0)) })).rejects.toThrow(
      /^compiled function look up: expected a graph that runs, got .*Gather.*The state is as it was/,
    );
    expect(await totalOf(params)).toBe(2);
  });

  it('that cannot be made are explained, or replaced by eager calls', async () => {
    const create = vi
      .spyOn(onnx!.InferenceSession, 'create')
      .mockRejectedValue(new Error('no kernel for Foo(7)\nmore'));
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const double = (_: unknown, { x }: TensorRecord) => ({ outputs: { y: tf.mul(x!, 2) } });
    await expect(compile(double, { name: 'double', executor: 'onnx' })({ x: scalar(1) })).rejects.toThrow(
      /^compiled function double: .*doesn't load \(no kernel for Foo\(7\)\)/,
    );
    const fallback = compile(double, { name: 'double', executor: 'onnx', unsupported: 'eager' });
    create.mockClear();
    expect((await fallback({ x: scalar(3) }))['y']!.data[0]).toBe(6);
    expect((await fallback({ x: ndarray(Float32Array.of(4)) }))['y']!.data[0]).toBe(8);
    expect(create).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

describe.skipIf(!onnx)(`operations that cannot be compiled${needsOnnx}`, () => {
  // A kernel that exists on one backend only, which is not the tracing one.
  beforeAll(() =>
    tf.registerKernel({
      kernelName: 'OnlyHere',
      backendName: 'cpu',
      kernelFunc: ({ inputs, backend }) => tf.getKernel('Identity', 'cpu')!.kernelFunc({ inputs, backend }),
    }),
  );
  // Other test files of this process count the kernels.
  afterAll(() => tf.unregisterKernel('OnlyHere', 'cpu'));
  const only = (x: tf.Tensor) => tf.engine().runKernel('OnlyHere', { x }) as tf.Tensor;
  const step = ({ params: { total } }: Groups, { x }: TensorRecord) => {
    const next = tf.add(total!, only(x!));
    return { state: { params: { total: next } }, outputs: { next } };
  };

  it('are an error that names them, or one warning and an eager function', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const params = variables({ total: scalar(1) });
    const options = { name: 'odd', state: { params }, executor: 'onnx' } as const;
    await expect(compile(step, options)({ x: scalar(1) })).rejects.toThrow(
      /^compiled function odd: .*OnlyHere.*executor: 'eager'/,
    );
    expect(await totalOf(params)).toBe(1);
    const eager = compile(step, { ...options, unsupported: 'eager' });
    for (const total of [2, 3, 4]) expect((await eager({ x: scalar(1) }))['next']!.data[0]).toBe(total);
    expect(await totalOf(params)).toBe(4);
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^compiled function odd runs operation by operation.*OnlyHere/)],
    ]);
  });

  it('leave other errors alone', async () => {
    const wrong = (_: unknown, { x }: TensorRecord) => ({ outputs: { y: tf.reshape(x!, [7]) } });
    const call = compile(wrong, { name: 'wrong', executor: 'onnx', unsupported: 'eager' })({ x: scalar(1) });
    await expect(call).rejects.toThrow(/^compiled function wrong: /);
  });
});

describe.skipIf(!onnx)(`operationTimes${needsOnnx}`, () => {
  it('counts the operations of all calls since the last time', async () => {
    const product = compile(
      (_, { x }) => ({ outputs: { y: tf.tanh(tf.matMul(x as tf.Tensor2D, x as tf.Tensor2D)) } }),
      {
        name: 'product',
        executor: 'onnx',
        profile: true,
      },
    );
    // Large enough for a trial, whose runs don't count.
    const x = ndarray(new Float32Array(256 * 256).fill(0.01), [256, 256]);
    for (const calls of [3, 2]) {
      for (let i = 0; i < calls; i++) await product({ x });
      const times = await operationTimes(product);
      expect(times.map(({ operation, count }) => [operation, count]).sort()).toEqual([
        ['MatMul', calls],
        ['Tanh', calls],
      ]);
      expect(times[0].milliseconds).toBeGreaterThanOrEqual(times[1].milliseconds);
      expect(times[1].milliseconds).toBeGreaterThan(0);
    }
    product.dispose();
  });

  it('refuses functions that keep none', async () => {
    const plain = compile((_, { x }) => ({ outputs: { x: x! } }), { name: 'plain' });
    await plain({ x: scalar(1) });
    await expect(operationTimes(plain)).rejects.toThrow(/a function compiled with profile: true/);
  });
});

it('refuses options that compile does not know', () => {
  const options = { name: 'f', thread: 2 };
  expect(() => compile(() => ({ outputs: {} }), options as never)).toThrow(/unknown option "thread"/);
});
