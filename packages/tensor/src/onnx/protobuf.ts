/** The wire format of Protocol Buffers, as far as ONNX files need it: fields are byte lists that are joined. */
export type Bytes = Uint8Array;

/** Joins parts into one message. */
export function message(...parts: readonly (Bytes | readonly Bytes[])[]): Bytes {
  const flat = parts.flat() as Bytes[];
  const joined = new Uint8Array(flat.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of flat) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** A whole number, negative ones as 64-bit two's complement. */
export function integer(field: number, value: number): Bytes {
  return Uint8Array.from([...varint(field << 3), ...varint(value)]);
}

/** Whole numbers packed into one field. */
export function integers(field: number, values: Iterable<number>): Bytes {
  return bytes(field, Uint8Array.from(Array.from(values, varint).flat()));
}

/** A 32-bit real number. */
export function float(field: number, value: number): Bytes {
  const packed = new Uint8Array(4);
  new DataView(packed.buffer).setFloat32(0, value, true);
  return message(Uint8Array.from(varint((field << 3) | 5)), packed);
}

/** Text. */
export function text(field: number, value: string): Bytes {
  return bytes(field, new TextEncoder().encode(value));
}

/** A nested message, or raw data. */
export function bytes(field: number, value: Bytes): Bytes {
  return message(Uint8Array.from([...varint((field << 3) | 2), ...varint(value.length)]), value);
}

function varint(value: number): number[] {
  let rest = BigInt.asUintN(64, BigInt(value));
  const coded: number[] = [];
  for (; rest > 127n; rest >>= 7n) coded.push(Number(rest & 127n) | 128);
  return [...coded, Number(rest)];
}
