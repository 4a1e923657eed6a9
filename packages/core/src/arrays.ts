import { z } from 'zod';
import { checkCount } from './check-values';
import { checkArgument, typedArrays } from './checks';
import { fail, show } from './errors';
import { type ArrayOf, type DType, type NDArray, type TypedArray, tagOf } from './typed-arrays';

const constructors = {
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;

const anyArray = typedArrays();
const dimensions = z.array(z.int().min(0));

/** A zeroed typed array of `length` elements. */
export function allocate<D extends DType>(dtype: D, length: number): ArrayOf<D> {
  if (!Object.hasOwn(constructors, dtype)) {
    fail('allocate: dtype', Object.keys(constructors).join(', '), show(dtype), 'Choose one of them.');
  }
  checkCount('allocate', 'length', length);
  return new constructors[dtype](length) as ArrayOf<D>;
}

/** The dtype of a typed array, of a subclass such as `Buffer` too. */
export function dtypeOf(array: TypedArray): DType {
  const dtype = knownType(array);
  if (dtype !== undefined) return dtype;
  const expected = `a typed array of ${Object.keys(constructors).join(', ')}`;
  return fail('dtypeOf', expected, show(array), 'Copy the values into one, such as Float32Array.from(values).');
}

/** Whether a value is a typed array that has a {@link DType}; one of another realm is, too. */
export function isTypedArray(value: unknown): value is TypedArray {
  return knownType(value) !== undefined;
}

/** Whether a value is a typed array of one dtype, of any realm. */
export function isArrayOf<D extends DType>(dtype: D, value: unknown): value is ArrayOf<D> {
  return knownType(value) === dtype;
}

function knownType(value: unknown): DType | undefined {
  const tag = ArrayBuffer.isView(value) ? tagOf(value) : '';
  const name = tag.replace('Array', '').toLowerCase();
  return Object.hasOwn(constructors, name) ? (name as DType) : undefined;
}

/**
 * An array as one that this realm's libraries know: itself, or a copy of one that another realm made (an iframe,
 * `node:vm`), for which `instanceof` is false.
 */
export function inThisRealm<Data extends TypedArray>(data: Data): Data {
  checkArgument('inThisRealm', 'data', anyArray, data);
  const Kind = constructors[dtypeOf(data)];
  return data instanceof Kind ? data : (Kind.from(data) as Data);
}

/** Number of elements of a shape; 1 for the shape [] of a scalar. */
export function sizeOf(shape: readonly number[]): number {
  if (!Array.isArray(shape)) fail('sizeOf: shape', 'a list of dimensions', show(shape), 'Give one such as [4, 4].');
  let size = 1;
  for (let i = 0; i < shape.length; i++) {
    const dimension: number = shape[i];
    if (!(Number.isInteger(dimension) && dimension >= 0)) {
      fail('sizeOf: shape', `a whole number at index ${i}`, show(dimension), 'Give one such as [4, 4].');
    }
    size *= dimension;
  }
  return size;
}

/** Wraps `data` with its shape; by default a vector. */
export function ndarray<Data extends TypedArray>(data: Data, shape: readonly number[] = [data.length]): NDArray<Data> {
  checkArgument('ndarray', 'data', anyArray, data);
  checkArgument('ndarray', 'shape', dimensions, shape);
  if (sizeOf(shape) !== data.length) {
    const expected = `data of ${sizeOf(shape)} values for the shape [${shape}]`;
    fail('ndarray', expected, `${data.length} values`, 'Change the shape or the data.');
  }
  return { data, shape };
}
