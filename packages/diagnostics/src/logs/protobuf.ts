// Protocol buffers, as far as event files of TensorBoard and run files of Weights & Biases need them. A field is its
// key, (number << 3) | wire type, and its value.
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** @param value an integer in [0, 2^53) */
export function varintField(number: number, value: number): Uint8Array {
  return Uint8Array.from([...key(number, VARINT), ...varint(value)]);
}

/** A text, or an inner message as its fields one after the other. */
export function bytesField(number: number, ...parts: readonly (string | Uint8Array)[]): Uint8Array {
  const content = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return Buffer.concat([Uint8Array.from([...key(number, BYTES), ...varint(content.length)]), content]);
}

export function doubleField(number: number, value: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, value, true);
  return Buffer.concat([Uint8Array.from(key(number, FIXED64)), new Uint8Array(bytes.buffer)]);
}

export function floatField(number: number, value: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(4));
  bytes.setFloat32(0, value, true);
  return Buffer.concat([Uint8Array.from(key(number, FIXED32)), new Uint8Array(bytes.buffer)]);
}

const key = (number: number, wireType: number) => varint(number * 8 + wireType);

/** Seven bits a byte, the lowest first. By division: steps may pass 2^31. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return bytes;
}
