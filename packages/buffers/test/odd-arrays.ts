import { runInNewContext } from 'node:vm';
import type { DType, TypedArray } from '@coplay/core';

/** Weights as a user may keep them. */
class Weights extends Float32Array {
  override get [Symbol.toStringTag](): 'Float32Array' {
    return 'Weights' as 'Float32Array';
  }
}

const foreign = (source: string): TypedArray => runInNewContext(source) as TypedArray;

/** Arrays of 2 numbers that a dtype can hold, however they were made: what they are, the dtype, and their numbers. */
export const READABLE: readonly [string, () => TypedArray, DType, readonly number[]][] = [
  ['a Buffer', () => Buffer.from([1, 254]), 'uint8', [1, 254]],
  ['a Buffer inside a larger one', () => Buffer.from([9, 1, 254, 9]).subarray(1, 3), 'uint8', [1, 254]],
  ['a subclass that calls itself another name', () => Weights.of(0.5, -2), 'float32', [0.5, -2]],
  ['int32 of another realm', () => foreign('Int32Array.of(-7, 70000)'), 'int32', [-7, 70000]],
  ['float32 of another realm', () => foreign('Float32Array.of(0.5, -2)'), 'float32', [0.5, -2]],
  ['float64 of another realm', () => foreign('Float64Array.of(0.1, 1e300)'), 'float64', [0.1, 1e300]],
  ['a view of shared memory', () => new Int16Array(new SharedArrayBuffer(4)).map((_, i) => i - 5), 'int16', [-5, -4]],
  ['a view of the middle', () => Float32Array.of(9, 0.5, -2, 9).subarray(1, 3), 'float32', [0.5, -2]],
];

const Half = (globalThis as { readonly Float16Array?: { of(...values: number[]): object } }).Float16Array;

/** What no dtype can hold, or what isn't an array of numbers at all, and the name that a message gives it. */
export const REFUSED: readonly [string, () => unknown, string][] = [
  ['64 bit integers', () => BigInt64Array.of(1n, 2n), 'BigInt64Array(2)'],
  ['unsigned 64 bit integers', () => BigUint64Array.of(1n, 2n), 'BigUint64Array(2)'],
  ['clamped bytes', () => Uint8ClampedArray.of(1, 2), 'Uint8ClampedArray(2)'],
  ['bytes without a type', () => new DataView(new ArrayBuffer(2)), 'DataView(2)'],
  ['a plain list', () => [1, 2], '[1, 2]'],
  ['bytes without a type that pass for float32', () => named(new DataView(new ArrayBuffer(2))), 'DataView(2)'],
  ...(Half ? [['16 bit floats', () => Half.of(1, 2), 'Float16Array(2)'] as const] : []),
].map(([what, make, shown]) => [what, make, shown] as [string, () => unknown, string]);

function named(view: DataView): unknown {
  return Object.defineProperties(view, { [Symbol.toStringTag]: { value: 'Float32Array' }, length: { value: 2 } });
}
