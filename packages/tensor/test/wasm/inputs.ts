import { createGenerator } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import type { tf } from '@coplay/tensor';

export type Dtype = 'float32' | 'int32' | 'bool';

/** An argument of a case: data that each backend makes a tensor of. */
export interface Input {
  readonly shape: readonly number[];
  readonly dtype: Dtype;
  readonly data: Float32Array | Int32Array | Uint8Array;
}

/** What is computed on wasm and on cpu, and must be equal. */
export interface WasmCase {
  readonly name: string;
  readonly f: (...x: tf.Tensor[]) => tf.Tensor | tf.Tensor[];
  readonly inputs: readonly Input[];
}

export const DTYPES: readonly Dtype[] = ['float32', 'int32', 'bool'];

/** Scalars, vectors, empty tensors, axes of size 1, and every rank up to 6. */
export const SHAPES: readonly (readonly number[])[] = [
  [],
  [0],
  [1],
  [7],
  [3, 4],
  [0, 3],
  [3, 0],
  [2, 1, 3],
  [2, 0, 3],
  [2, 3, 2, 3],
  [1, 2, 1, 3, 2],
  [2, 1, 2, 2, 1, 3],
];

/** Where implementations of functions of one number differ. */
const HARD_FLOATS = [Number.NaN, Infinity, -Infinity, -0, 0, 1, -1, 0.5, -0.5, 2.5, -2.5, 6, 7, 1e-30, 3e9, -3e9];
/** 16777217 isn't a float32; the bits of -9 are a NaN if they are read as one. */
const HARD_INTS = [0, -1, 1, -2, -9, 7, 16_777_217, -16_777_219, 2 ** 31 - 1, -(2 ** 31), 100, -100];

/**
 * `plain`: finite numbers below 3, or below 10 of int32. `hard`: those and the numbers where implementations differ.
 */
export type Kind = 'plain' | 'hard' | 'with NaN';

/** Numbers of a shape and dtype, drawn from `seed`. */
export function input(shape: readonly number[], dtype: Dtype, seed: number, kind: Kind = 'plain'): Input {
  const generator = createGenerator(seed);
  const size = sizeOf(shape);
  if (dtype === 'bool') {
    return { shape, dtype, data: Uint8Array.from({ length: size }, () => generator.integer(2)) };
  }
  if (dtype === 'int32') {
    const draw = () =>
      kind === 'hard' ? pick(HARD_INTS, generator.integer(HARD_INTS.length)) : generator.integer(19) - 9;
    return { shape, dtype, data: Int32Array.from({ length: size }, draw) };
  }
  const data = Float32Array.from({ length: size }, () => generator.uniform() * 6 - 3);
  if (kind === 'hard') {
    for (let i = 0; i < size; i++)
      if (generator.integer(4) > 0) data[i] = pick(HARD_FLOATS, generator.integer(HARD_FLOATS.length));
  }
  if (kind === 'with NaN') for (let i = 0; i < size; i++) if (generator.integer(5) === 0) data[i] = Number.NaN;
  return { shape, dtype, data };
}

/** Given numbers. */
export function numbers(shape: readonly number[], dtype: Dtype, values: readonly number[]): Input {
  const arrays = { float32: Float32Array, int32: Int32Array, bool: Uint8Array };
  return { shape, dtype, data: arrays[dtype].from(values) };
}

function pick(values: readonly number[], at: number): number {
  return values[at]!;
}
