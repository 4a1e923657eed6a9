import { decodeNpz, encodeNpz } from '@coplay/buffers/npz';
import { strToU8, zipSync } from 'fflate';
import { expect, it } from 'vitest';
import { decodeNpy, encodeNpy } from '../src/npz/npy';

/** A .npy file of two uint8 whose header has these words for descr and shape. */
function npy(descr: string, shape: string): Uint8Array {
  const header = strToU8(`{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }\n`);
  return Uint8Array.of(0x93, ...strToU8('NUMPY'), 1, 0, header.length, 0, ...header, 7, 8);
}

it('a shape of Python 2, with an L behind each number, is a shape', () => {
  expect(decodeNpy(npy('|u1', '(2L,)'))).toEqual({ data: Uint8Array.of(7, 8), shape: [2] });
  expect(decodeNpy(npy('|u1', '(1L, 2L)')).shape).toEqual([1, 2]);
  expect(() => decodeNpy(npy('|u1', '(1LL, 2)'))).toThrow('a shape of whole numbers');
});

it('arrays in a file with an array of objects are read by their names', () => {
  const good = encodeNpy({ data: Float32Array.of(1, 2), shape: [2] });
  const bytes = zipSync({ 'good.npy': good, 'objects.npy': npy('|O', '(1,)') });
  expect(() => decodeNpz(bytes)).toThrow('objects');
  expect(decodeNpz(bytes, 'a', { only: ['good'] })).toEqual({ good: { data: Float32Array.of(1, 2), shape: [2] } });
  expect(() => decodeNpz(bytes, 'a', { only: ['other'] })).toThrow(
    'a: only: expected names of good, objects, got "other"',
  );
});

it('100 listings of one file are refused before any of them is unpacked', () => {
  const bytes = encodeNpz({ a: { data: new Uint8Array(1000), shape: [1000] } });
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const end = bytes.length - 22;
  const start = view.getUint32(end + 16, true);
  const listing = bytes.slice(start, end);
  const many = new Uint8Array(start + 100 * listing.length + 22);
  many.set(bytes.subarray(0, start));
  for (let i = 0; i < 100; i++) many.set(listing, start + i * listing.length);
  many.set(bytes.subarray(end), many.length - 22);
  const record = new DataView(many.buffer, many.length - 22);
  for (const at of [8, 10]) record.setUint16(at, 100, true);
  record.setUint32(12, 100 * listing.length, true);
  expect(() => decodeNpz(many)).toThrow('which overlaps another');
});
