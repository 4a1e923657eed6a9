import { fail, type NDArray, type TypedArray } from '@coplay/core';
import { dtypeOf, isArrayOf, sizeOf } from '@coplay/core/arrays';
import { checkArgument, ndarrays, typedArrays } from '@coplay/core/checks';
import { type Element, elementOf, writtenDescr } from './dtypes';

/** An array as it is in a file. `isBool` marks zeros and ones that numpy sees as booleans. */
export interface StoredArray extends NDArray {
  readonly isBool?: boolean;
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]; // \x93NUMPY
const ALIGNMENT = 64;

/** The largest number of bytes of one array: a Uint8Array can have it on every supported version of Node. */
const LARGEST_ARRAY = 2 ** 32 - 1;

/** The header of the .npy format and the data, as views where that is possible. */
export function npyParts(where: string, array: StoredArray): Uint8Array[] {
  const { data, shape, isBool = false } = array;
  if (sizeOf(shape) !== data.length) {
    fail(where, `${sizeOf(shape)} values for the shape [${shape}]`, `${data.length}`, 'Mend the shape.');
  }
  checkSize(where, data.byteLength);
  if (isBool) checkBool(where, data);
  return [npyHeader(writtenDescr(dtypeOf(data), isBool), shape), littleEndianBytes(data)];
}

/** An array in numpy's .npy format (version 1.0; 2.0 for very long headers). */
export function encodeNpy(array: StoredArray): Uint8Array {
  checkArgument('encodeNpy', 'array', ndarrays, array);
  return joinBytes(npyParts('encodeNpy', array));
}

/**
 * Reads the .npy format, versions 1 to 3, C and Fortran order, either byte order.
 *
 * Booleans come as uint8 with `isBool`; 16 bit floats as float32; 64 bit integers as int32 where they fit, else as
 * float64 where that is exact.
 *
 * @param where  a name of the source, for messages
 * @throws CoplayError for damaged data, and for types that a typed array can't hold: objects (pickles), strings,
 *         complex numbers, records
 */
export function decodeNpy(bytes: Uint8Array, where = 'decodeNpy'): StoredArray {
  checkArgument(where, 'bytes', typedArrays('uint8'), bytes);
  const { descr, isFortran, shape, start } = readHeader(bytes, where);
  const element = elementOf(descr, where);
  const count = sizeOf(shape);
  if (bytes.length - start !== count * element.bytes) {
    const got = `${bytes.length - start} bytes`;
    damaged(where, `${count * element.bytes} bytes of data for ${descr} [${shape}]`, got);
  }
  const stored = readElements(bytes.subarray(start), count, element, where);
  const data = isFortran && shape.length > 1 ? toRowMajor(stored, shape) : stored;
  return element.isBool ? { data, shape, isBool: true } : { data, shape };
}

/** One array out of several. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Refuses more bytes than can be handled in one array. */
export function checkSize(where: string, bytes: number): void {
  if (bytes <= LARGEST_ARRAY) return;
  fail(
    where,
    'less than 4 GiB in one array',
    `${bytes} bytes`,
    'Split it into several arrays; all together may be larger.',
  );
}

/** Throws the error for a file that isn't as it was written. */
export function damaged(where: string, expected: string, got: string): never {
  fail(where, expected, got, 'The file is damaged or not what its name says: write it again.');
}

function npyHeader(descr: string, shape: readonly number[]): Uint8Array {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const dictionary = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const isShort = 10 + dictionary.length + ALIGNMENT < 65536;
  const prefix = isShort ? 10 : 12;
  const length = Math.ceil((prefix + dictionary.length + 1) / ALIGNMENT) * ALIGNMENT - prefix;
  const header = new Uint8Array(prefix + length);
  header.set([...MAGIC, isShort ? 1 : 2, 0]);
  const view = new DataView(header.buffer);
  if (isShort) view.setUint16(8, length, true);
  else view.setUint32(8, length, true);
  header.set(new TextEncoder().encode(`${dictionary.padEnd(length - 1)}\n`), prefix);
  return header;
}

function readHeader(bytes: Uint8Array, where: string) {
  if (bytes.length < 12 || MAGIC.some((byte, i) => bytes[i] !== byte)) {
    damaged(where, 'data that begin with \\x93NUMPY', `${bytes.length} other bytes`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const version = bytes[6];
  if (version < 1 || version > 3) damaged(where, 'version 1, 2 or 3 of the npy format', String(version));
  const prefix = version === 1 ? 10 : 12;
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  const text = new TextDecoder().decode(bytes.subarray(prefix, prefix + length));
  const order = /'fortran_order':\s*(True|False)/.exec(text);
  const tuple = /'shape':\s*\(([\d,L\s]*)\)/.exec(text);
  if (!order || !tuple)
    damaged(where, 'a header with descr, fortran_order and shape', JSON.stringify(text.slice(0, 60)));
  const simple = /'descr':\s*'([^']*)'/.exec(text);
  // Python 2 wrote `(2L, 3L)`.
  const sizes = tuple[1].split(',').map((part) => part.trim().replace(/L$/, ''));
  const shape = sizes.filter((size) => size !== '').map(Number);
  if (!shape.every(Number.isSafeInteger)) damaged(where, 'a shape of whole numbers', `(${tuple[1]})`);
  const descr = simple ? simple[1] : 'V';
  return { descr, isFortran: order[1] === 'True', shape, start: prefix + length };
}

function readElements(bytes: Uint8Array, count: number, element: Element, where: string): TypedArray {
  // The bytes may start anywhere in their buffer; typed arrays need an aligned start. Node's Buffer has a `slice` that
  // copies nothing.
  const copy = Uint8Array.from(bytes.subarray(0, count * element.bytes));
  if (element.isBigEndian) reverseEach(copy, element.bytes);
  return element.read(copy.buffer, where);
}

function reverseEach(bytes: Uint8Array, size: number): void {
  for (let i = 0; i < bytes.length; i += size) bytes.subarray(i, i + size).reverse();
}

/** Fortran order has the first index running fastest; ours the last. */
function toRowMajor(data: TypedArray, shape: readonly number[]): TypedArray {
  const strides = shape.map((_, axis) => sizeOf(shape.slice(0, axis)));
  const out = data.slice();
  const index = new Array<number>(shape.length).fill(0);
  let from = 0;
  for (let to = 0; to < out.length; to++) {
    out[to] = data[from];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= shape[axis] * strides[axis];
      index[axis] = 0;
    }
  }
  return out;
}

/** The array's own memory, on machines that keep numbers as the file does (all that are common). */
function littleEndianBytes(data: TypedArray): Uint8Array {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (isLittleEndian) return bytes;
  const swapped = bytes.slice();
  reverseEach(swapped, data.BYTES_PER_ELEMENT);
  return swapped;
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

function checkBool(where: string, data: TypedArray): void {
  if (!isArrayOf('uint8', data)) {
    fail(where, 'uint8 for booleans', dtypeOf(data), 'Convert it, or leave isBool out.');
  }
  const index = data.findIndex((value) => value > 1);
  if (index >= 0) fail(where, 'zeros and ones for booleans', String(data[index]), 'Leave isBool out.');
}
