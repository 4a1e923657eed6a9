import { type NDArray, ndarray } from '@coplay/core';
import { compile, tf, useBackend } from '@coplay/tensor';
import { expect } from 'vitest';

/** A function of tensors and its arguments, as arrays. */
export interface Example {
  readonly f: (...x: tf.Tensor[]) => tf.Tensor | readonly tf.Tensor[];
  readonly args: readonly NDArray[];
}

/** sum(w y) with fixed weights w, so that every output matters, and differently. */
export function weighted(y: tf.Tensor): tf.Scalar {
  const weights = Float32Array.from({ length: y.size }, (_, i) => Math.cos(1 + 2 * i));
  return tf.sum(tf.mul(y, tf.tensor(weights, y.shape))) as tf.Scalar;
}

/** The same function with its gradients, by each argument, behind its values. */
export function withGradients(f: (...x: tf.Tensor[]) => tf.Tensor): Example['f'] {
  return (...x) => [f(...x), ...tf.grads((...y: tf.Tensor[]) => weighted(f(...y)))(x)];
}

/** Runs a function by an executor; eager on the cpu backend. */
export async function run({ f, args }: Example, executor: 'onnx' | 'wasm' | 'eager'): Promise<NDArray[]> {
  await useBackend('cpu');
  const compiled = compile(
    (_, inputs) => {
      const made = f(...Object.values(inputs));
      const list = made instanceof tf.Tensor ? [made] : made;
      return { outputs: Object.fromEntries(list.map((y, i) => [`y${i}`, y])) };
    },
    { name: 'example', executor, threads: 1 },
  );
  try {
    return Object.values(await compiled(Object.fromEntries(args.map((x, i) => [`x${i}`, x]))));
  } finally {
    compiled.dispose();
  }
}

/** The executors that run graphs. */
export const COMPILED = ['onnx', 'wasm'] as const;

/** Runs by all executors: same shapes, same dtypes, and values as near as `tolerance` to each other. */
export async function expectParity(example: Example, tolerance = 1e-5): Promise<NDArray[]> {
  const expected = await run(example, 'eager');
  const results: NDArray[][] = [];
  for (const executor of COMPILED) {
    const got = await run(example, executor);
    expect(got.map(({ shape }) => shape)).toEqual(expected.map(({ shape }) => shape));
    expect(got.map(({ data }) => data.constructor.name)).toEqual(expected.map(({ data }) => data.constructor.name));
    got.forEach(({ data }, i) => {
      expectClose([...data], [...expected[i].data], tolerance);
    });
    results.push(got);
  }
  return results[0];
}

/**
 * The difference relative to the size of the numbers, or absolute where they're below 1; infinite numbers and NaN must
 * agree.
 */
export function expectClose(got: readonly number[], expected: readonly number[], tolerance: number): void {
  expect(got.length).toBe(expected.length);
  const scale = expected.reduce((max, y) => (Number.isFinite(y) ? Math.max(max, Math.abs(y)) : max), 1);
  const wrong = got.flatMap((y, i) => {
    const isClose = Object.is(y, expected[i]) || y === expected[i] || Math.abs(y - expected[i]) / scale < tolerance;
    return isClose ? [] : [`number ${i}: ${y} instead of ${expected[i]}`];
  });
  expect(wrong.slice(0, 5)).toEqual([]);
}

/** An array of float32 numbers. */
export function floats(values: readonly number[], shape: readonly number[] = [values.length]): NDArray {
  return ndarray(Float32Array.from(values), [...shape]);
}

/** An array of int32 numbers. */
export function ints(values: readonly number[], shape: readonly number[] = [values.length]): NDArray {
  return ndarray(Int32Array.from(values), [...shape]);
}
