import { ndarray } from '@coplay/core';
import { compile, tf } from '@coplay/tensor';
import { useThreads } from '@coplay/tensor/threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CompileOptions } from '../src/compile/compile';
import { needsOnnx, onnx } from './onnx-runtime';

type Options = Omit<CompileOptions, 'name'>;

/** sum_ij (x x)_ij of x [size, size] full of ones is size^3. */
async function run(size: number, options: Options): Promise<number> {
  const cube = compile<never, { x: tf.Tensor2D }, { sum: tf.Scalar }>(
    (_, { x }) => ({ outputs: { sum: tf.sum(tf.matMul(x, x)) as tf.Scalar } }),
    { name: 'cube', executor: 'onnx', ...options },
  );
  const { sum } = await cube({ x: ndarray(new Float32Array(size * size).fill(1), [size, size]) });
  cube.dispose();
  return sum.data[0]!;
}

describe.skipIf(!onnx)(`memory of a function${needsOnnx}`, () => {
  const factory: { create(...given: never[]): unknown } = onnx?.InferenceSession ?? { create: () => undefined };
  const create = vi.spyOn(factory, 'create');
  /** Of the sessions made since the last look: whether each has an arena, and a pattern. */
  const made = () => {
    const calls = create.mock.calls as unknown as [Uint8Array, Record<string, unknown>][];
    const options = calls.map(([, { enableCpuMemArena, enableMemPattern }]) => [enableCpuMemArena, enableMemPattern]);
    create.mockClear();
    return options;
  };
  afterEach(() => useThreads());

  it.each<[string, Options, boolean]>([
    ["is the system's by default", {}, false],
    ["is the system's", { memory: 'system' }, false],
    ['is an arena of its own', { memory: 'arena' }, true],
    ['is an arena where times are kept', { memory: 'arena', profile: true }, true],
  ])('%s', async (_, options, hasArena) => {
    useThreads(1);
    expect(await run(4, options)).toBe(64);
    expect(made()).toEqual([[hasArena, hasArena]]); // a small graph's arena has a pattern, too
  });

  it('is an arena in all sessions of a trial of threads', async () => {
    vi.stubEnv('COPLAY_THREADS', 'trial');
    expect(await run(203, { memory: 'arena' })).toBe(203 ** 3); // 8,365,427 < 2^24: exact
    expect(new Set(made().map(String))).toEqual(new Set(['true,true']));
    vi.unstubAllEnvs();
  });

  it('has no pattern where the results of a graph would make it huge', async () => {
    useThreads(1);
    const grow = compile<never, { x: tf.Tensor1D }, { sum: tf.Scalar }>(
      (_, { x }) => {
        let y: tf.Tensor = tf.tile(x, [2 ** 22]);
        for (let i = 0; i < 128; i++) y = tf.abs(y); // 129 times 2^23 numbers
        return { outputs: { sum: tf.sum(y) as tf.Scalar } };
      },
      { name: 'grow', executor: 'onnx', memory: 'arena' },
    );
    const { sum } = await grow({ x: ndarray(Float32Array.of(0, 0), [2]) });
    expect(sum.data[0]).toBe(0);
    expect(made()).toEqual([[true, false]]);
    grow.dispose();
  });

  it('is refused where it has no such name', () => {
    expect(() => compile(() => ({ outputs: {} }), { name: 'f', memory: 'heap' as 'arena' })).toThrow(
      /compile\(f\): option memory/,
    );
  });
});
