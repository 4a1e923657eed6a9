import { ndarray, sizeOf } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { expectParity, withGradients } from './compiled';
import { type CompiledCase, compiledCases, smallCases, specialCases } from './compiled-cases';
import { gridValues, type KernelCase, kernelCases } from './kernel-cases';

const args = ({ shapes, values }: KernelCase) =>
  shapes.map((shape, i) => ndarray(gridValues(sizeOf(shape), 10 * shape.length + i, values), [...shape]));

const example = ({ f, args: inputs, forwardOnly }: CompiledCase) => ({
  f: forwardOnly ? f : withGradients(f),
  args: inputs,
});

describe('every kernel, compiled against eager on cpu', () => {
  it.each(kernelCases)('$name', async (kernel) => {
    await expectParity({ f: kernel.forwardOnly ? kernel.f : withGradients(kernel.f), args: args(kernel) });
  });

  it.each([...compiledCases, ...specialCases])('$name', async (compiled) => {
    await expectParity(example(compiled));
  });

  it.each(smallCases)('$name', async (compiled) => {
    await expectParity(example(compiled), 1e-6);
  });

  it('names are unique', () => {
    const names = [...compiledCases, ...specialCases, ...smallCases].map(({ name }) => name);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });
});
