import { availableParallelism } from 'node:os';
import { ndarray } from '@coplay/core';
import { compile, type TensorRecord, tf, variables } from '@coplay/tensor';
import { restoreThreadChoices, threadChoices, threadInfo, useThreads } from '@coplay/tensor/threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CompileOptions } from '../src/compile/compile';
import { needsOnnx, onnx } from './onnx-runtime';

type Groups = Record<'params', TensorRecord>;
type Options = Omit<CompileOptions<'params'>, 'name' | 'state'>;

/** w [size, size] of which each call takes the square: 2 size^3 operations; and it starts as twice the identity. */
function squaring(size: number, name: string, options: Options = {}) {
  const data = new Float32Array(size * size);
  for (let i = 0; i < size; i++) data[i * size + i] = 2;
  const params = variables({ w: ndarray(data, [size, size]) });
  const square = compile(
    ({ params: { w } }: Groups) => {
      const next = tf.matMul(w as tf.Tensor2D, w as tf.Tensor2D);
      return { state: { params: { w: next } }, outputs: { sum: tf.sum(next) } };
    },
    { name, state: { params }, executor: 'onnx', ...options },
  );
  return { params, sum: async () => (await square({}))['sum']!.data[0], dispose: () => square.dispose() };
}

/** 2 x 203^3 = 3.99 x 2^22 operations are worth threads, 2^13 aren't. */
const [LARGE, SMALL] = [203, 16];

describe.skipIf(!onnx)(`threads${needsOnnx}`, () => {
  const factory: { create(...given: never[]): unknown } = onnx?.InferenceSession ?? { create: () => undefined };
  const create = vi.spyOn(factory, 'create');
  /** The threads of the sessions made since the last look. */
  const made = () => {
    const calls = create.mock.calls as unknown as [Uint8Array, { intraOpNumThreads: number }][];
    const counts = calls.map(([, { intraOpNumThreads }]) => intraOpNumThreads);
    create.mockClear();
    return counts;
  };
  beforeEach(() => {
    vi.stubEnv('COPLAY_THREADS', '');
    useThreads();
    made();
  });
  afterEach(() => vi.unstubAllEnvs());

  it('are one, without a trial, for a graph of little work', async () => {
    await squaring(SMALL, 'small').sum();
    expect(made()).toEqual([1]);
    expect(Object.entries(threadChoices())).toEqual([[expect.stringMatching(/^small#[0-9a-f]{8}$/), 1]]);
  });

  it('follow from the size of the graph and the cores, without any trial', async () => {
    const threads = Math.min(availableParallelism(), 3);
    await squaring(LARGE, 'fixed').sum();
    await squaring(LARGE, 'fixed too', { threads: 'fixed' }).sum();
    await squaring(2 * SMALL, 'fixed').sum();
    expect(made()).toEqual([threads, threads, 1]);
    expect(await threadInfo()).toEqual({ threads: 'fixed', cores: availableParallelism() });
  });

  it("don't depend on what another graph of the same kind was given", async () => {
    await squaring(LARGE, 'twice', { threads: 5 }).sum();
    await squaring(LARGE, 'twice').sum();
    expect(made()).toEqual([5, Math.min(availableParallelism(), 3)]);
  });

  it('are found by a trial that changes no state and is no call', async () => {
    useThreads('trial');
    const acceptState = vi.fn(() => true);
    const { params, sum } = squaring(LARGE, 'large', { acceptState });
    expect(await sum()).toBe(4 * LARGE);
    expect((await params.read())['w']!.data[0]).toBe(4);
    expect(acceptState).toHaveBeenCalledTimes(1);
    expect(made().slice(0, 2)).toEqual(availableParallelism() > 1 ? [1, 2] : [1]);
    expect(await sum()).toBe(16 * LARGE);
    expect(made()).toEqual([]);
  });

  it('are remembered after a trial for a function of the same name, also with another graph', async () => {
    vi.stubEnv('COPLAY_THREADS', 'trial');
    await squaring(LARGE, 'twin').sum();
    const [[key, threads]] = Object.entries(threadChoices());
    made();
    await squaring(LARGE, 'twin').sum();
    expect(made()).toEqual([threads]);
    await squaring(LARGE + 1, 'twin').sum();
    expect(made()).toEqual([threads]); // no second trial
    expect(Object.keys(threadChoices())).toHaveLength(3);
    expect(threadChoices()[key]).toBe(threads);
  });

  it('are those of the function, else of useThreads, else of COPLAY_THREADS', async () => {
    vi.stubEnv('COPLAY_THREADS', '3');
    await squaring(LARGE, 'a').sum();
    useThreads(2);
    await squaring(LARGE, 'b').sum();
    await squaring(LARGE, 'c', { threads: 1 }).sum();
    expect(made()).toEqual([3, 2, 1]);
    expect(Object.values(threadChoices())).toEqual([3, 2, 1]);
  });

  it('change for graphs that have run already, whose state stays', async () => {
    const { sum } = squaring(SMALL, 'changing');
    expect(await sum()).toBe(4 * SMALL);
    useThreads(2);
    expect(await sum()).toBe(16 * SMALL);
    expect(await sum()).toBe(256 * SMALL);
    useThreads(2);
    expect(await sum()).toBe(65536 * SMALL);
    expect(made()).toEqual([1, 2]);
  });

  it('are restored from what another process kept', async () => {
    const first = squaring(LARGE, 'kept');
    await first.sum();
    const [key] = Object.keys(threadChoices());
    made();
    restoreThreadChoices(JSON.parse(`{ ${JSON.stringify(key)}: 3, "other#00000000": 2 }`));
    await first.sum();
    await squaring(LARGE, 'kept').sum();
    expect(made()).toEqual([3, 3]);
    expect(JSON.parse(JSON.stringify(threadChoices()))).toMatchObject({ [key]: 3, 'other#00000000': 2 });
  });

  it.each([
    ['useThreads of more than a system makes', () => useThreads(500), /useThreads: expected .* from 1 to 256/],
    ['useThreads', () => useThreads(0), /useThreads: expected a whole number from 1 to 256, 'fixed' or 'trial', got 0/],
    [
      'a record',
      () => restoreThreadChoices({ 'f#1': 2, 'g#1': 0.5 }),
      /whole numbers from 1 to 256, for g#1, got 0\.5/,
    ],
    ['a number', () => restoreThreadChoices(500 as never), /restoreThreadChoices: expected a record .* got 500/],
    ['a list', () => restoreThreadChoices([] as never), /restoreThreadChoices: expected a record .* got \[\]/],
    ['null', () => restoreThreadChoices(null as never), /restoreThreadChoices: expected a record .* got null/],
    ['the option', () => squaring(1, 'f', { threads: 1.5 }), /compile\(f\): option threads/],
  ])('are refused where they are no whole number: %s', (_, call, message) => {
    expect(call).toThrow(message);
    expect(threadChoices()).toEqual({});
  });

  it('are refused where COPLAY_THREADS is nonsense', async () => {
    vi.stubEnv('COPLAY_THREADS', 'many');
    await expect(squaring(1, 'f').sum()).rejects.toThrow(/COPLAY_THREADS: expected a whole number from 1/);
  });
});
