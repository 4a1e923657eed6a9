import { type DType, fail, type NamedArrays, type NDArray, show } from '@coplay/core';
import { dtypeOf, isTypedArray, sizeOf } from '@coplay/core/arrays';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';

/**
 * The safetensors format (github.com/huggingface/safetensors): 8 bytes with the length N of the header (little-endian),
 * N bytes of JSON, then the arrays' bytes without gaps. The header has `{dtype, shape, data_offsets: [begin, end]}` for
 * each name, offsets counted from its end, and texts under `__metadata__`. It's padded with spaces, so that arrays
 * start at a multiple of 8. Python reads it with `safetensors.numpy.load_file`.
 *
 * The format's name of each dtype and the bytes of an element; the order is that of arrays in a file.
 */
export const DTYPES = {
  float64: { name: 'F64', width: 8 },
  float32: { name: 'F32', width: 4 },
  uint32: { name: 'U32', width: 4 },
  int32: { name: 'I32', width: 4 },
  uint16: { name: 'U16', width: 2 },
  int16: { name: 'I16', width: 2 },
  int8: { name: 'I8', width: 1 },
  uint8: { name: 'U8', width: 1 },
} as const satisfies Record<DType, { name: string; width: number }>;

/** The dtypes as they follow each other in a file. */
export const FILE_ORDER = Object.keys(DTYPES) as readonly DType[];
/** The name that the format keeps for texts. */
export const METADATA = '__metadata__';

/** The content of a safetensors file. */
export interface Safetensors {
  readonly arrays: NamedArrays;
  /** Free texts by name. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * The bytes of a safetensors file, as pieces to be written one after the other. The same arrays give the same bytes (as
 * Python's `save`) in any order of names: wide elements come first, so that every array is aligned, then by name.
 *
 * @returns pieces that are views on the arrays: write them before the arrays change
 * @throws CoplayError for an array whose shape doesn't fit, or one named `__metadata__`
 */
export function encodeSafetensors(arrays: NamedArrays, metadata: Readonly<Record<string, string>> = {}): Uint8Array[] {
  checkArgument('encodeSafetensors', 'arrays', arraysSchema, arrays);
  checkArgument('encodeSafetensors', 'metadata', metadataSchema, metadata);
  for (const name in arrays) checkWritable(name, arrays[name]);
  const entries = Object.entries(arrays).sort(inFileOrder);
  const texts = Object.keys(metadata).length > 0 ? [[METADATA, metadata] as const] : [];
  let end = 0;
  const fields = entries.map(([name, { data, shape }]) => {
    const begin = end;
    end += data.byteLength;
    return [name, { dtype: DTYPES[dtypeOf(data)].name, shape, data_offsets: [begin, end] }] as const;
  });
  const header = encodeHeader(Object.fromEntries<unknown>([...texts, ...fields]));
  return [header, ...entries.map(([, { data }]) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength))];
}

const arraysSchema = z.record(z.string(), z.looseObject({ shape: z.array(z.int().min(0)) }));
const metadataSchema = z.record(z.string(), z.string());

function inFileOrder([nameA, a]: [string, NDArray], [nameB, b]: [string, NDArray]): number {
  const byType = FILE_ORDER.indexOf(dtypeOf(a.data)) - FILE_ORDER.indexOf(dtypeOf(b.data));
  return byType !== 0 ? byType : nameA < nameB ? -1 : 1;
}

function checkWritable(name: string, { data, shape }: NDArray): void {
  const where = 'encodeSafetensors';
  if (name === METADATA)
    fail(where, 'names of arrays', show(name), 'The format keeps this name for itself: rename it.');
  if (!isTypedArray(data)) fail(where, `${show(name)} to be of a dtype of @coplay/core`, show(data), 'Convert it.');
  if (sizeOf(shape) !== data.length) {
    fail(where, `${show(name)} to have ${data.length} elements`, `the shape ${show(shape)}`, 'Mend its shape.');
  }
}

function encodeHeader(header: Readonly<Record<string, unknown>>): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const padded = Math.ceil(json.length / 8) * 8;
  const bytes = new Uint8Array(8 + padded).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(padded), true);
  bytes.set(json, 8);
  return bytes;
}
