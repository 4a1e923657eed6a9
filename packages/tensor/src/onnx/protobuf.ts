/**
 * Bytes in pieces, in the wire format of Protocol Buffers as far as ONNX files need it. Large pieces aren't copied when
 * messages are nested: weights of many megabytes stay where they are until the file is written.
 */
export interface Bytes {
  readonly pieces: readonly Uint8Array[];
  readonly length: number;
}

/** Pieces shorter than this in total are joined at once: a node of a graph is one piece. */
const JOIN_BELOW = 4096;

/** Joins parts into one message. */
export function message(...parts: readonly (Bytes | readonly Bytes[])[]): Bytes {
  const flat = parts.flat() as Bytes[];
  const length = flat.reduce((sum, part) => sum + part.length, 0);
  const pieces: Uint8Array[] = [];
  for (const part of flat) for (const piece of part.pieces) pieces.push(piece);
  return length < JOIN_BELOW && pieces.length > 1 ? single(join({ pieces, length })) : { pieces, length };
}

/** One array of all pieces. */
export function join({ pieces, length }: Bytes): Uint8Array {
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.length;
  }
  return joined;
}

function single(piece: Uint8Array): Bytes {
  return { pieces: [piece], length: piece.length };
}

/** A whole number, negative ones as 64-bit two's complement. */
export function integer(field: number, value: number): Bytes {
  const coded: number[] = [];
  putVarint(coded, field << 3);
  putVarint(coded, value);
  return single(Uint8Array.from(coded));
}

/** Whole numbers packed into one field. */
export function integers(field: number, values: Iterable<number>): Bytes {
  const coded: number[] = [];
  for (const value of values) putVarint(coded, value);
  return raw(field, Uint8Array.from(coded));
}

/** A 32-bit real number. */
export function float(field: number, value: number): Bytes {
  const packed = new Uint8Array(4);
  new DataView(packed.buffer).setFloat32(0, value, true);
  const coded: number[] = [];
  putVarint(coded, (field << 3) | 5);
  return single(Uint8Array.from([...coded, ...packed]));
}

/** Text. */
export function text(field: number, value: string): Bytes {
  return raw(field, new TextEncoder().encode(value));
}

/** Data as it is. It isn't copied: don't change it before the message is written. */
export function raw(field: number, value: Uint8Array): Bytes {
  return bytes(field, single(value));
}

/** A nested message. */
export function bytes(field: number, value: Bytes): Bytes {
  const coded: number[] = [];
  putVarint(coded, (field << 3) | 2);
  putVarint(coded, value.length);
  return message(single(Uint8Array.from(coded)), value);
}

/** Base 128, lowest digits first. */
function putVarint(coded: number[], value: number): void {
  if (value < 0) {
    putNegative(coded, value);
    return;
  }
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) coded.push((rest % 128) | 128);
  coded.push(rest);
}

function putNegative(coded: number[], value: number): void {
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) coded.push(Number(rest & 127n) | 128);
  coded.push(Number(rest));
}
