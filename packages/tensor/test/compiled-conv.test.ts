import { createGenerator, type NDArray, ndarray } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { compile, tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMPILED } from './compiled';
import { type ConvCase, convCases } from './conv-cases';

type Arrays = Readonly<Record<string, NDArray>>;

function inputsOf({ shapes, isNegative }: ConvCase): Record<string, NDArray> {
  const generator = createGenerator(shapes.length);
  const draw = () => (isNegative ? -0.1 - generator.uniform() : 2 * generator.uniform() - 1);
  const entries = shapes.map((shape, i) => [
    `x${i}`,
    ndarray(Float32Array.from({ length: sizeOf(shape) }, draw), shape),
  ]);
  return Object.fromEntries(entries);
}

/** The value, and the gradient of sum(w y) with weights w that differ from output to output. */
async function run(
  { name, f, forwardOnly }: ConvCase,
  inputs: Arrays,
  executor: 'onnx' | 'wasm' | 'eager',
): Promise<Arrays> {
  const compiled = compile(
    (_, tensors) => {
      const list = Object.values(tensors);
      const y = f(...list);
      if (forwardOnly) return { outputs: { y } };
      const weights = tf.tensor(
        Float32Array.from({ length: y.size }, (__, i) => Math.cos(1 + 2 * i)),
        y.shape,
      );
      const all = tf.grads((...x: tf.Tensor[]) => tf.sum(tf.mul(f(...x), weights)))(list);
      return { outputs: { y, ...Object.fromEntries(all.map((gradient, i) => [`gradient${i}`, gradient])) } };
    },
    { name, executor },
  );
  const outputs = await compiled(inputs);
  compiled.dispose();
  return outputs as Arrays;
}

function expectClose(got: Arrays, expected: Arrays): void {
  expect(Object.keys(got)).toEqual(Object.keys(expected));
  for (const name in expected) {
    const a = got[name]!;
    const b = expected[name]!;
    expect(a.shape).toEqual(b.shape);
    const scale = [...b.data].reduce((max, value) => Math.max(max, Math.abs(Number(value))), 1);
    let worst = 0;
    b.data.forEach((value, i) => {
      worst = Math.max(worst, Math.abs(Number(value) - Number(a.data[i])) / scale);
    });
    expect(worst, name).toBeLessThan(1e-5);
  }
}

/** The value alone, by all inputs but the first as constants. */
async function runFixed(
  { name, f }: ConvCase,
  { x0, ...others }: Record<string, NDArray>,
  executor: 'onnx' | 'wasm' | 'eager',
) {
  const compiled = compile(
    (_, { x0: x }) => {
      const fixed = Object.values(others).map(({ data, shape }) => tf.tensor(data as Float32Array, [...shape]));
      return { outputs: { y: f(x!, ...fixed) } };
    },
    { name, executor },
  );
  const outputs = await compiled({ x0: x0! });
  compiled.dispose();
  return outputs as Arrays;
}

it('names are unique', () => {
  expect(new Set(convCases.map(({ name }) => name)).size).toBe(convCases.length);
});

describe('compiled convolutions are as eager ones on cpu', () => {
  beforeAll(async () => {
    await useBackend('cpu');
  });

  it.each(convCases)('$name', async (convolution) => {
    const inputs = inputsOf(convolution);
    const expected = await run(convolution, inputs, 'eager');
    for (const executor of COMPILED) expectClose(await run(convolution, inputs, executor), expected);
  });

  it.each(convCases)('$name, the filter known ahead', async (convolution) => {
    const inputs = inputsOf(convolution);
    const expected = await runFixed(convolution, inputs, 'eager');
    for (const executor of COMPILED) expectClose(await runFixed(convolution, inputs, executor), expected);
  });
});
