import { sizeOf } from '@coplay/core/arrays';
import { type BackendName, tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadableBackends } from './backends';
import { gridValues, type KernelCase, kernelCases } from './kernel-cases';

interface Numbers {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

const inputs = ({ shapes, values }: KernelCase): Float32Array[] =>
  shapes.map((shape, i) => gridValues(sizeOf(shape), 10 * shape.length + i, values));

function forward({ shapes, f }: KernelCase, data: Float32Array[]): Numbers {
  return tf.tidy(() => {
    const y = f(...data.map((values, i) => tf.tensor(values.slice(), shapes[i] as number[])));
    return { shape: y.shape, values: [...y.dataSync()] };
  });
}

/** sum(w y) with fixed weights w, so that every output matters, and differently. */
function weighted(y: tf.Tensor): tf.Scalar {
  const weights = Float32Array.from({ length: y.size }, (_, i) => Math.cos(1 + 2 * i));
  return tf.sum(tf.mul(y, tf.tensor(weights, y.shape))) as tf.Scalar;
}

function gradients({ shapes, f }: KernelCase, data: Float32Array[]): Numbers[] {
  return tf.tidy(() => {
    const tensors = data.map((values, i) => tf.tensor(values.slice(), shapes[i] as number[]));
    const all = tf.grads((...x: tf.Tensor[]) => weighted(f(...x)))(tensors);
    return all.map((gradient) => ({ shape: gradient.shape, values: [...gradient.dataSync()] }));
  });
}

/** Central differences; the sum over outputs is done in double precision. */
function finiteDifferences(kernel: KernelCase, data: Float32Array[]): number[][] {
  const step = 1 / 256; // exact in float32, and smaller than half the spacing of the inputs
  const loss = (): number =>
    forward(kernel, data).values.reduce((sum, y, i) => sum + y * Math.fround(Math.cos(1 + 2 * i)), 0);
  return data.map((values) =>
    [...values].map((value, i) => {
      values[i] = value + step;
      const above = loss();
      values[i] = value - step;
      const below = loss();
      values[i] = value;
      return (above - below) / (2 * step);
    }),
  );
}

/** The difference relative to the size of the numbers, or absolute where they're below 1. */
function expectClose(got: readonly number[], expected: readonly number[], tolerance: number): void {
  expect(got.length).toBe(expected.length);
  const scale = Math.max(1, ...expected.map(Math.abs));
  const worst = got.reduce((max, value, i) => Math.max(max, Math.abs(value - expected[i]) / scale), 0);
  expect(worst).toBeLessThan(tolerance);
}

it('names are unique', () => {
  expect(new Set(kernelCases.map(({ name }) => name)).size).toBe(kernelCases.length);
});

/**
 * Data that the backend holds; a kernel that forgets to free what it made in between shows here, though not in
 * `tf.memory()`.
 */
function dataHeld(backend: BackendName): number {
  const backends = [...new Set([backend, 'cpu'])].map((name) => tf.engine().findBackend(name));
  return backends.reduce((sum, each) => sum + each.numDataIds(), 0);
}

describe.each(await loadableBackends())('kernels on %s', (backend: BackendName) => {
  beforeAll(async () => {
    await useBackend(backend);
  });

  const accepted = kernelCases.filter(({ refusedBy = [] }) => !refusedBy.includes(backend));

  it.each(accepted)('$name: as on cpu', async (kernel) => {
    await useBackend('cpu');
    const expected = forward(kernel, inputs(kernel));
    await useBackend(backend);
    const before = dataHeld(backend);
    const got = forward(kernel, inputs(kernel));
    expect(dataHeld(backend)).toBe(before);
    expect(got.shape).toEqual(expected.shape);
    expectClose(got.values, expected.values, 1e-5);
  });

  it.each(accepted.filter(({ forwardOnly }) => !forwardOnly))('$name: gradient', (kernel) => {
    const data = inputs(kernel);
    const expected = finiteDifferences(kernel, data);
    const before = dataHeld(backend);
    const got = gradients(kernel, data);
    expect(dataHeld(backend)).toBe(before);
    got.forEach(({ shape, values }, i) => {
      expect(shape).toEqual(kernel.shapes[i]);
      expectClose(values, expected[i], 2e-3);
    });
  });
});
