import { checkOptions, fail, show } from '@coplay/core';
import { isArrayOf } from '@coplay/core/arrays';
import { checkArgument, functions, namedArrays, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import { decodeNpy, joinBytes, npyParts, type StoredArray } from './npy';
import { type ByteSource, readZip } from './zip-read';
import { zipParts } from './zip-write';

/** Named arrays as in a file. */
export type StoredArrays = Record<string, StoredArray>;

const sourceSchema = z.union([typedArrays('uint8'), z.looseObject({ size: z.int().min(0), read: functions() })]);

/** The content of a .npz file. */
export interface ReadNpzOptions {
  /** Names of the arrays to read; others may be of types that can't be read, such as objects of Python. Default: all */
  readonly only?: readonly string[] | undefined;
}

const readSchema = z.strictObject({ only: z.array(z.string()).readonly().optional() });

/**
 * The bytes of a .npz file (a zip of .npy files), in pieces that are views of the arrays: write them before the arrays
 * change.
 */
export function npzParts(arrays: Readonly<StoredArrays>): Uint8Array[] {
  return zipParts(
    Object.entries(arrays).map(([name, array]) => {
      if (name === '') fail('encodeNpz', 'names for all arrays', 'an empty one', 'Name the array.');
      if (/\p{Cs}/u.test(name)) fail('encodeNpz', 'names that UTF-8 can hold', show(name), 'Rename the array.');
      return { name: `${name}.npy`, parts: npyParts(`encodeNpz: ${name}`, array) };
    }),
  );
}

/** Named arrays as a .npz file; `numpy.load` reads it without pickles. Not compressed. */
export function encodeNpz(arrays: Readonly<StoredArrays>): Uint8Array {
  checkArgument('encodeNpz', 'arrays', namedArrays, arrays);
  return joinBytes(npzParts(arrays));
}

/**
 * Reads a .npz file, of this package or of numpy (`savez` and `savez_compressed`); for the types see `decodeNpy`.
 *
 * @param source  the bytes of the file, or a way to read them piece by piece
 * @param where    a name of the source, for messages
 * @throws CoplayError naming the source, the array in it and the fault
 */
export function decodeNpz(
  source: Uint8Array | ByteSource,
  where = 'decodeNpz',
  options: ReadNpzOptions = {},
): StoredArrays {
  if (typeof where !== 'string') fail('decodeNpz: where', 'a text', show(where), 'Name the source that is read.');
  checkArgument(where, 'source', sourceSchema, source);
  const { only } = checkOptions(where, readSchema, options);
  const bytes = isArrayOf('uint8', source) ? inMemory(source) : source;
  const files = readZip(bytes, where).map(({ name, contents }) => ({ key: name.replace(/\.npy$/, ''), contents }));
  const missing = only?.find((name) => !files.some(({ key }) => key === name));
  if (missing !== undefined) {
    fail(
      `${where}: only`,
      `names of ${files.map(({ key }) => key).join(', ')}`,
      show(missing),
      'Name arrays of the file.',
    );
  }
  const wanted = only ? files.filter(({ key }) => only.includes(key)) : files;
  // Object.fromEntries defines each key, where an assignment to __proto__ would be lost.
  return Object.fromEntries(wanted.map(({ key, contents }) => [key, decodeNpy(contents(), `${where}: ${key}`)]));
}

function inMemory(bytes: Uint8Array): ByteSource {
  return { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) };
}
