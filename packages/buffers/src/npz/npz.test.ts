import { allocate, type DType, ndarray } from '@coplay/core';
import { dtypeOf, sizeOf } from '@coplay/core/arrays';
import fc from 'fast-check';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { crc32 } from './crc32';
import { decodeNpy, encodeNpy, joinBytes, type StoredArray } from './npy';
import { decodeNpz, encodeNpz } from './npz';
import { readZip } from './zip-read';
import { zipParts } from './zip-write';

const DTYPES: DType[] = ['uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32', 'float32', 'float64'];

const stored: fc.Arbitrary<StoredArray> = fc
  .record({ dtype: fc.constantFrom(...DTYPES), shape: fc.array(fc.nat(4), { maxLength: 5 }), isBool: fc.boolean() })
  .chain(({ dtype, shape, isBool }) =>
    fc.array(fc.integer(), { minLength: sizeOf(shape), maxLength: sizeOf(shape) }).map((values) => {
      if (isBool) return { data: Uint8Array.from(values, (value) => value & 1), shape, isBool };
      const data = allocate(dtype, values.length);
      data.set(values);
      return { data, shape };
    }),
  );

/** A .npy file as numpy would write it, with a header given by hand. */
function npy(descr: string, shape: string, bytes: number[], order = 'False'): Uint8Array {
  const text = `{'descr': ${descr}, 'fortran_order': ${order}, 'shape': ${shape}, }\n`;
  const header = [0x93, ...new TextEncoder().encode('NUMPY'), 1, 0, text.length, 0];
  return Uint8Array.from([...header, ...new TextEncoder().encode(text), ...bytes]);
}

describe('npy', () => {
  it('is the format of its specification, byte by byte', () => {
    const bytes = encodeNpy(ndarray(Int16Array.of(1, -2), [2]));
    // 10 bytes of prefix and a header that fills up to 128.
    expect(Array.from(bytes.subarray(0, 10))).toEqual([0x93, 78, 85, 77, 80, 89, 1, 0, 118, 0]);
    const header = new TextDecoder().decode(bytes.subarray(10, 128));
    expect(header.trimEnd()).toBe("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }");
    expect(header.endsWith(' \n')).toBe(true);
    expect(Array.from(bytes.subarray(128))).toEqual([1, 0, 0xfe, 0xff]);
    expect(new TextDecoder().decode(encodeNpy(ndarray(Uint8Array.of(7), [])))).toContain("'shape': (), }");
  });

  it('comes back with every dtype and shape, also empty, with 0 and 5 dimensions', () => {
    fc.assert(
      fc.property(stored, (array) => {
        const back = decodeNpy(encodeNpy(array));
        expect(back).toEqual(array);
        expect(dtypeOf(back.data)).toBe(dtypeOf(array.data));
      }),
    );
  });

  it('reads Fortran order, with the first index running fastest', () => {
    // The array [[1, 2, 3], [4, 5, 6]] column by column.
    expect(decodeNpy(npy("'|u1'", '(2, 3)', [1, 4, 2, 5, 3, 6], 'True'))).toEqual({
      data: Uint8Array.of(1, 2, 3, 4, 5, 6),
      shape: [2, 3],
    });
  });

  it('reads big endian, half precision and 64 bit integers', () => {
    expect(decodeNpy(npy("'>i2'", '(2,)', [0, 1, 1, 0])).data).toEqual(Int16Array.of(1, 256));
    // Halves: 1 = 0x3c00, -2 = 0xc000, 2^-24 = 0x0001, infinity = 0x7c00, 65504 = 0x7bff
    const halves = [0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0x00, 0x7c, 0xff, 0x7b];
    expect(decodeNpy(npy("'<f2'", '(5,)', halves)).data).toEqual(Float32Array.of(1, -2, 2 ** -24, Infinity, 65504));
    expect(decodeNpy(npy("'<i8'", '(1,)', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])).data).toEqual(
      Int32Array.of(-1),
    );
    expect(decodeNpy(npy("'<u8'", '(1,)', [0, 0, 0, 0, 1, 0, 0, 0])).data).toEqual(Float64Array.of(2 ** 32));
    expect(() => decodeNpy(npy("'<u8'", '(1,)', [1, 0, 0, 0, 0, 0, 0, 0x80]))).toThrow(
      /64 bit integers up to 2\^53, got 9223372036854775809/,
    );
  });

  it('refuses types that no typed array can hold, by name (L12)', () => {
    for (const [descr, what] of [
      ["'|O'", 'Python objects \\(a pickle\\)'],
      ["'<U3'", 'text'],
      ["'|S3'", 'byte strings'],
      ["'<c8'", 'complex numbers'],
      ["'<M8[ns]'", 'dates'],
      ["[('a', '<f4'), ('b', '<i4')]", 'records'],
      ["'<f16'", 'an unknown type'],
    ]) {
      expect(() => decodeNpy(npy(descr, '(0,)', [])), descr).toThrow(
        new RegExp(`booleans, integers or floats, got ${what}`),
      );
    }
  });

  it('refuses damaged files and arrays that contradict themselves', () => {
    const bytes = encodeNpy(ndarray(Float32Array.of(1, 2)));
    expect(() => decodeNpy(bytes.subarray(0, bytes.length - 1))).toThrow(/8 bytes of data for <f4 \[2\], got 7 bytes/);
    expect(() => decodeNpy(bytes.subarray(1))).toThrow(/begin with/);
    expect(() => decodeNpy(new Uint8Array(0))).toThrow(/decodeNpy: expected data that begin with/);
    expect(() => encodeNpy({ data: Float32Array.of(1), shape: [2] })).toThrow(
      /encodeNpy: array.data: expected 2 values for the shape \[2\], got Float32Array\(1\)/,
    );
    expect(() => encodeNpy({ data: Uint8Array.of(2), shape: [1], isBool: true })).toThrow(
      /zeros and ones for booleans, got 2/,
    );
    expect(() => encodeNpy({ data: Float32Array.of(1), shape: [1], isBool: true })).toThrow(
      /uint8 for booleans, got float32/,
    );
  });
});

describe('npz', () => {
  it('comes back under the name __proto__ too', () => {
    const array = { data: Uint8Array.of(1, 2), shape: [2] };
    const back = decodeNpz(encodeNpz(Object.fromEntries([['__proto__', array]])));
    expect(Object.entries(back)).toEqual([['__proto__', array]]);
  });

  it('comes back with all names, shapes, dtypes and values', () => {
    const name = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
    fc.assert(
      fc.property(fc.dictionary(name, stored, { maxKeys: 6 }), (arrays) => {
        expect(decodeNpz(encodeNpz(arrays))).toEqual({ ...arrays });
      }),
    );
  });

  it('reads deflated files too', () => {
    const array = ndarray(new Float32Array(1000).fill(0.5), [10, 100]);
    const zipped = zipSync({ 'nested/x.npy': encodeNpy(array) }, { level: 9 });
    expect(zipped.length).toBeLessThan(600);
    expect(decodeNpz(zipped)).toEqual({ 'nested/x': array });
  });

  it('gives the same bytes for the same arrays', () => {
    const arrays = { a: ndarray(Int32Array.of(1, 2, 3)) };
    expect(encodeNpz(arrays)).toEqual(encodeNpz(structuredClone(arrays)));
  });

  it("reads a Buffer of Node's without sharing its memory", () => {
    const arrays = { a: ndarray(Float32Array.of(1, 2, 3)), b: ndarray(Float64Array.of(4)) };
    const bytes = Buffer.concat([Buffer.of(0), encodeNpz(arrays)]).subarray(1); // at an odd place of its memory
    const read = decodeNpz(bytes);
    bytes.fill(0);
    expect(read).toEqual(arrays);
  });

  it('refuses a file in which any byte was changed or that was cut anywhere, by name', () => {
    const arrays = { a: ndarray(Float32Array.of(1, 2, 3)), b: ndarray(Uint8Array.of(4)) };
    const whole = encodeNpz(arrays);
    for (let length = 0; length < whole.length; length++) {
      expect(() => decodeNpz(whole.subarray(0, length)), `cut at ${length}`).toThrow(/^decodeNpz/);
    }
    for (let i = 0; i < whole.length; i++) {
      const changed = whole.slice();
      changed[i] ^= 0xff;
      // Bytes that carry nothing (dates, versions, flags) may change; the arrays may not.
      try {
        const read = decodeNpz(changed);
        expect([...Object.values(read)], `byte ${i}`).toEqual(Object.values(arrays));
      } catch (error) {
        expect((error as Error).message, `byte ${i}`).toMatch(/^decodeNpz/);
      }
    }
  });
});

describe('zip', () => {
  it('has the checksum of its specification', () => {
    // The check value of CRC-32: "123456789" gives cbf43926.
    const text = new TextEncoder().encode('123456789');
    expect(crc32([text])).toBe(0xcbf43926);
    expect(crc32([text.subarray(0, 4), text.subarray(4)])).toBe(0xcbf43926);
    expect(crc32([])).toBe(0);
  });

  it('uses the 64 bit fields where a size or an offset needs them', () => {
    const entries = ['a', 'b', 'c'].map((name, i) => ({ name, parts: [new Uint8Array(20 * (i + 1)).fill(i)] }));
    for (const limit of [1, 30, 60, 100, 1000]) {
      const bytes = joinBytes(zipParts(entries, limit));
      const source = { size: bytes.length, read: (at: number, size: number) => bytes.subarray(at, at + size) };
      const files = readZip(source, 'test').map((file) => ({ name: file.name, parts: [file.contents()] }));
      expect(files, `limit ${limit}`).toEqual(entries);
    }
  });
});
