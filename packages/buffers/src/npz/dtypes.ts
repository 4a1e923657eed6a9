import { type DType, fail, type TypedArray } from '@coplay/core';

/** How one element of a file is read. */
export interface Element {
  readonly bytes: number;
  readonly isBool: boolean;
  readonly isBigEndian: boolean;
  /** The elements in a buffer of the machine's own byte order. */
  read(buffer: ArrayBuffer, where: string): TypedArray;
}

const WRITTEN: Record<DType, string> = {
  uint8: '|u1',
  int8: '|i1',
  uint16: '<u2',
  int16: '<i2',
  uint32: '<u4',
  int32: '<i4',
  float32: '<f4',
  float64: '<f8',
};

/** numpy's name of a dtype, in little endian. */
export function writtenDescr(dtype: DType, isBool: boolean): string {
  return isBool ? '|b1' : WRITTEN[dtype];
}

const READERS: Record<string, (buffer: ArrayBuffer, where: string) => TypedArray> = {
  b1: (buffer) => new Uint8Array(buffer),
  u1: (buffer) => new Uint8Array(buffer),
  i1: (buffer) => new Int8Array(buffer),
  u2: (buffer) => new Uint16Array(buffer),
  i2: (buffer) => new Int16Array(buffer),
  u4: (buffer) => new Uint32Array(buffer),
  i4: (buffer) => new Int32Array(buffer),
  i8: (buffer, where) => narrow(new BigInt64Array(buffer), where),
  u8: (buffer, where) => narrow(new BigUint64Array(buffer), where),
  f2: (buffer) => Float32Array.from(new Uint16Array(buffer), halfToNumber),
  f4: (buffer) => new Float32Array(buffer),
  f8: (buffer) => new Float64Array(buffer),
};

const REFUSED: Record<string, string> = {
  O: 'Python objects (a pickle)',
  U: 'text',
  S: 'byte strings',
  V: 'records',
  c: 'complex numbers',
  M: 'dates',
  m: 'time spans',
};

/**
 * The element type of a numpy `descr` such as `<f4`.
 *
 * @throws CoplayError naming the type, where no typed array can hold it
 */
export function elementOf(descr: string, where: string): Element {
  const [, order, type] = /^([<>|=])?(.+)$/.exec(descr) ?? ['', '', ''];
  const read = READERS[type];
  if (!read) {
    const what = REFUSED[type[0]] ?? 'an unknown type';
    const remedy = 'Convert it in numpy first, for example with array.astype("float32").';
    fail(where, 'booleans, integers or floats', `${what} (${descr})`, remedy);
  }
  return { bytes: Number(type[1]), isBool: type === 'b1', isBigEndian: order === '>', read };
}

/** 64 bit integers as numbers: int32 where they fit, float64 where that is exact. */
function narrow(values: BigInt64Array | BigUint64Array, where: string): TypedArray {
  let fits = true;
  for (const value of values) {
    if (value < -2147483648n || value > 2147483647n) fits = false;
    if (value < -9007199254740992n || value > 9007199254740992n) {
      fail(where, '64 bit integers up to 2^53', `${value}`, 'Store it as float64 or as two integers.');
    }
  }
  return fits ? Int32Array.from(values, Number) : Float64Array.from(values, Number);
}

/** IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits. */
function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
