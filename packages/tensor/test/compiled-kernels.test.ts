import { ndarray } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { tf } from '@coplay/tensor';
import { describe, expect, it } from 'vitest';
import { expectClose, expectParity, floats, run, withGradients } from './compiled';
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

  it('resizeNearest of several images: the gradient of each is what it is alone, which eager gets wrong', async () => {
    const grow = withGradients((x) => tf.image.resizeNearestNeighbor(x as tf.Tensor4D, [4, 6]));
    const repeated = (x: tf.Tensor) => tf.concat([x, x]);
    const [, both] = await run({ f: (x) => grow(repeated(x)), args: [floats([1, 2, 3, 4], [1, 2, 2, 1])] }, 'onnx');
    // Each pixel becomes 2 x 3; weights are cos(1 + 2 i).
    const weight = (image: number, row: number, column: number) => Math.cos(1 + 2 * (24 * image + 6 * row + column));
    const expected = [0, 1].flatMap((image) =>
      [0, 1].flatMap((row) =>
        [0, 1].map((column) =>
          [0, 1].reduce(
            (sum, i) => [0, 1, 2].reduce((total, j) => total + weight(image, 2 * row + i, 3 * column + j), sum),
            0,
          ),
        ),
      ),
    );
    expectClose([...both!.data], expected, 1e-5);
  });

  it('names are unique', () => {
    const names = [...compiledCases, ...specialCases, ...smallCases].map(({ name }) => name);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });
});
