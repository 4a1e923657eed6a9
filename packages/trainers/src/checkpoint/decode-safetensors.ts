import { allocate, type DType, fail, type NDArray, show } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { checkArgument, parseJson, repeatedKey, typedArrays } from '@coplay/core/checks';
import { DTYPES, FILE_ORDER, METADATA, type Safetensors } from './safetensors';

// The reference implementation's limit.
const MAX_HEADER_BYTES = 100_000_000;

interface Entry {
  readonly type: DType;
  readonly shape: readonly number[];
  /** Begin and end in bytes, from the end of the header. */
  readonly offsets: readonly [number, number];
}

/**
 * Reads a safetensors file. Nothing in it is trusted: lengths, offsets, shapes and names are checked before any array
 * is made.
 *
 * @param bytes  the whole file
 * @returns arrays with memory of their own
 * @throws CoplayError that names the fault of the file
 */
export function decodeSafetensors(bytes: Uint8Array): Safetensors {
  checkArgument('decodeSafetensors', 'bytes', typedArrays('uint8'), bytes);
  const { header, dataStart } = decodeHeader(bytes);
  const { [METADATA]: metadata = {}, ...fields } = header;
  const entries = Object.entries(fields).map(([name, field]) => [name, checkEntry(name, field)] as const);
  checkOffsets(entries, bytes.length - dataStart);
  const arrays = entries.map(([name, entry]) => [name, decodeArray(bytes, dataStart, entry)] as const);
  return { arrays: Object.fromEntries(arrays), metadata: checkMetadata(metadata) };
}

function decodeHeader(bytes: Uint8Array): { header: Record<string, unknown>; dataStart: number } {
  if (bytes.length < 8) damaged(`${bytes.length} bytes, too few for the header's length`);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  if (length > MAX_HEADER_BYTES) damaged(`a header of ${length} bytes, more than the ${MAX_HEADER_BYTES} allowed`);
  const dataStart = 8 + Number(length);
  if (dataStart > bytes.length) damaged(`a header of ${length} bytes in a file of ${bytes.length}`);
  const text = decodeText(bytes.subarray(8, dataStart));
  const header = parseHeader(text);
  if (!isObject(header)) damaged('a header that is no JSON object');
  const repeated = repeatedKey(text);
  if (repeated !== undefined) damaged(`the name ${show(repeated)} twice`);
  return { header, dataStart };
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return damaged('a header that is not UTF-8');
  }
}

function parseHeader(text: string): unknown {
  try {
    return parseJson('decodeSafetensors', text);
  } catch {
    return damaged('a header that is not JSON');
  }
}

function checkEntry(name: string, field: unknown): Entry {
  if (!isObject(field)) damaged(`${show(name)} without dtype, shape and offsets`);
  const { dtype, shape, data_offsets: offsets } = field;
  const type = FILE_ORDER.find((key) => DTYPES[key].name === dtype);
  if (type === undefined) damaged(`${show(name)} of dtype ${show(dtype)}, which @coplay/core doesn't have`);
  if (!isSizes(shape)) damaged(`${show(name)} of shape ${show(shape)}`);
  if (!isSizes(offsets) || offsets.length !== 2) damaged(`${show(name)} at the offsets ${show(offsets)}`);
  const size = sizeOf(shape) * DTYPES[type].width;
  if (offsets[1] - offsets[0] !== size) {
    damaged(`${show(name)} of ${size} bytes at the offsets ${show(offsets)}`);
  }
  return { type, shape, offsets: [offsets[0], offsets[1]] };
}

/** Arrays must follow each other without gap or overlap, and fill the file. */
function checkOffsets(entries: readonly (readonly [string, Entry])[], dataBytes: number): void {
  const byOffset = [...entries].sort(([, a], [, b]) => a.offsets[0] - b.offsets[0] || a.offsets[1] - b.offsets[1]);
  let end = 0;
  for (const [name, { offsets }] of byOffset) {
    if (offsets[0] !== end) damaged(`${show(name)} at the offsets ${show(offsets)}, where byte ${end} is next`);
    end = offsets[1];
  }
  if (end !== dataBytes) damaged(`${dataBytes} bytes of arrays, where the header speaks of ${end}`);
}

function decodeArray(bytes: Uint8Array, dataStart: number, entry: Entry): NDArray {
  const data = allocate(entry.type, sizeOf(entry.shape));
  const [begin, end] = entry.offsets;
  new Uint8Array(data.buffer).set(bytes.subarray(dataStart + begin, dataStart + end));
  return { data, shape: entry.shape };
}

function checkMetadata(metadata: unknown): Readonly<Record<string, string>> {
  if (isObject(metadata) && Object.values(metadata).every((text) => typeof text === 'string')) {
    return metadata as Record<string, string>;
  }
  return damaged(`${METADATA} that is not a record of texts`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

function damaged(got: string): never {
  fail('decodeSafetensors', 'an undamaged safetensors file', got, 'Use another copy of the file.');
}
