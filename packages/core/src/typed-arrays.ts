/*
 * The types of typed arrays, and what class one has. It imports nothing, since the checks of values stand above it.
 */

/** The element types that games, buffers and files use. `bool` is stored as one byte, 0 or 1. */
export type DType = 'uint8' | 'int8' | 'uint16' | 'int16' | 'uint32' | 'int32' | 'float32' | 'float64';

/** The typed arrays that hold them. */
export type TypedArray =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array;

/** An array with a shape, outside any tensor library. Row-major; `data.length` is the product of `shape`. */
export interface NDArray<Data extends TypedArray = TypedArray> {
  readonly data: Data;
  readonly shape: readonly number[];
}

/** A flat record of named arrays: parameters, optimiser slots, a batch. Nested names are joined by `/`. */
export type NamedArrays = Record<string, NDArray>;

interface ArrayTypes {
  readonly uint8: Uint8Array;
  readonly int8: Int8Array;
  readonly uint16: Uint16Array;
  readonly int16: Int16Array;
  readonly uint32: Uint32Array;
  readonly int32: Int32Array;
  readonly float32: Float32Array;
  readonly float64: Float64Array;
}

/** The typed array of a dtype: `ArrayOf<'uint8'>` is `Uint8Array`. */
export type ArrayOf<D extends DType> = ArrayTypes[D];

/** The class of the typed arrays of each dtype, as {@link tagOf} tells it. */
export const TAGS: Readonly<Record<DType, string>> = {
  uint8: 'Uint8Array',
  int8: 'Int8Array',
  uint16: 'Uint16Array',
  int16: 'Int16Array',
  uint32: 'Uint32Array',
  int32: 'Int32Array',
  float32: 'Float32Array',
  float64: 'Float64Array',
};
/** All dtypes. */
export const DTYPES = Object.keys(TAGS) as readonly DType[];

const numberTags = new Set(
  ['Uint8', 'Uint8Clamped', 'Int8', 'Uint16', 'Int16', 'Uint32', 'Int32', 'Float16', 'Float32', 'Float64'].map(
    (type) => `${type}Array`,
  ),
);

/** Whether it's a typed array of numbers, of this realm or of another one. */
export function isNumberArray(value: unknown): value is TypedArray {
  return ArrayBuffer.isView(value) && numberTags.has(tagOf(value));
}

/**
 * A getter that typed arrays of all realms and subclasses share: it reads the array's actual type, not the name of its
 * class.
 */
const readTag = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get;

/** `Float32Array`, for typed arrays of any realm and their subclasses; '' for a DataView. */
export function tagOf(value: ArrayBufferView): string {
  return (readTag?.call(value) as string | undefined) ?? '';
}
