import type { Packed } from './data';

/** Numbers as base64 of little-endian float32: 5.3 characters each. */
export function packFloats(values: ArrayLike<number>): Packed {
  const bytes = Buffer.alloc(4 * values.length);
  for (let i = 0; i < values.length; i++) bytes.writeFloatLE(values[i], 4 * i);
  return bytes.toString('base64');
}

/** Whole numbers from 0 to 65,535 as base64 of little-endian uint16. */
export function packPlaces(values: ArrayLike<number>): Packed {
  const bytes = Buffer.alloc(2 * values.length);
  for (let i = 0; i < values.length; i++) bytes.writeUInt16LE(values[i], 2 * i);
  return bytes.toString('base64');
}
