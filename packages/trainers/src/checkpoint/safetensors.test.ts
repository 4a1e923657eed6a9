import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoplayError, type NamedArrays } from '@coplay/core';
import { repeatedKey } from '@coplay/core/checks';
import { describe, expect, test } from 'vitest';
import { decodeSafetensors } from './decode-safetensors';
import { encodeSafetensors } from './safetensors';

const arrays: NamedArrays = {
  w: { data: Float32Array.of(1.5, -0, Number.NaN, 2), shape: [2, 2] },
  n: { data: Uint16Array.of(1, 2, 65535), shape: [3] },
  d: { data: Float64Array.of(-Infinity), shape: [] },
  m: { data: new Uint8Array(0), shape: [0, 3] },
  'agents/0/k': { data: Int8Array.of(-1), shape: [1] },
  i: { data: Int32Array.of(-(2 ** 31), 7), shape: [2] },
  u: { data: Uint32Array.of(2 ** 32 - 1), shape: [1] },
  s: { data: Int16Array.of(-5), shape: [1] },
};

// What Python's safetensors 0.8.0 makes of the same arrays: safetensors.numpy.save({'w': ..., ...}, {'by': 'numpy'}).
const PYTHON = `
4AEAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJieSI6Im51bXB5In0sImQiOnsiZHR5cGUiOiJGNjQiLCJzaGFwZSI6W10sImRhdGFfb2Zmc2V0cyI6WzAsOF19
LCJ3Ijp7ImR0eXBlIjoiRjMyIiwic2hhcGUiOlsyLDJdLCJkYXRhX29mZnNldHMiOls4LDI0XX0sInUiOnsiZHR5cGUiOiJVMzIiLCJzaGFwZSI6WzFdLCJk
YXRhX29mZnNldHMiOlsyNCwyOF19LCJpIjp7ImR0eXBlIjoiSTMyIiwic2hhcGUiOlsyXSwiZGF0YV9vZmZzZXRzIjpbMjgsMzZdfSwibiI6eyJkdHlwZSI6
IlUxNiIsInNoYXBlIjpbM10sImRhdGFfb2Zmc2V0cyI6WzM2LDQyXX0sInMiOnsiZHR5cGUiOiJJMTYiLCJzaGFwZSI6WzFdLCJkYXRhX29mZnNldHMiOls0
Miw0NF19LCJhZ2VudHMvMC9rIjp7ImR0eXBlIjoiSTgiLCJzaGFwZSI6WzFdLCJkYXRhX29mZnNldHMiOls0NCw0NV19LCJtIjp7ImR0eXBlIjoiVTgiLCJz
aGFwZSI6WzAsM10sImRhdGFfb2Zmc2V0cyI6WzQ1LDQ1XX19ICAAAAAAAADw/wAAwD8AAACAAADAfwAAAED/////AAAAgAcAAAABAAIA///7//8=`;

function bytesOf(named: NamedArrays, metadata?: Record<string, string>): Uint8Array {
  return new Uint8Array(Buffer.concat(encodeSafetensors(named, metadata)));
}

/** A file with any header and data, right or wrong. */
function file(header: unknown, data: Uint8Array = new Uint8Array(0), length?: bigint): Uint8Array {
  const json = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const bytes = new Uint8Array(8 + json.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, length ?? BigInt(json.length), true);
  bytes.set(json, 8);
  bytes.set(data, 8 + json.length);
  return bytes;
}

describe('encodeSafetensors', () => {
  test('writes the same bytes as Python, in any order of the names of arrays', () => {
    const python = new Uint8Array(Buffer.from(PYTHON, 'base64'));
    expect(bytesOf(arrays, { by: 'numpy' })).toEqual(python);
    expect(bytesOf(Object.fromEntries(Object.entries(arrays).reverse()), { by: 'numpy' })).toEqual(python);
  });

  test('starts the arrays at a multiple of 8 bytes', () => {
    for (const name of ['a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'abcdefg', 'é']) {
      const [header] = encodeSafetensors({ [name]: { data: Uint8Array.of(1), shape: [1] } });
      expect(header.length % 8).toBe(0);
      expect(new DataView(header.buffer).getBigUint64(0, true)).toBe(BigInt(header.length - 8));
    }
  });

  test('refuses what the format has no place for', () => {
    const data = new Uint8Array(2);
    expect(() => encodeSafetensors({ __metadata__: { data, shape: [2] } })).toThrow(/"__metadata__".*rename it/);
    expect(() => encodeSafetensors({ x: { data, shape: [3] } })).toThrow(/"x" to have 2 elements, got the shape \[3\]/);
    const big = { data: new BigInt64Array(1) as unknown as Uint8Array, shape: [1] };
    expect(() => encodeSafetensors({ x: big })).toThrow(
      /"x" to be of a dtype of @coplay\/core, got BigInt64Array\(1\)/,
    );
  });
});

describe('decodeSafetensors', () => {
  test('reads what Python wrote', () => {
    const read = decodeSafetensors(new Uint8Array(Buffer.from(PYTHON, 'base64')));
    expect(read.arrays).toEqual(arrays);
    expect(read.metadata).toEqual({ by: 'numpy' });
  });

  test('reads a file without arrays, and one at an odd place in memory', () => {
    expect(decodeSafetensors(bytesOf({}))).toEqual({ arrays: {}, metadata: {} });
    const shifted = new Uint8Array([0, 0, 0, ...bytesOf(arrays)]).subarray(3);
    expect(decodeSafetensors(shifted).arrays).toEqual(arrays);
  });

  const u8 = (begin: number, end: number): object => ({
    dtype: 'U8',
    shape: [end - begin],
    data_offsets: [begin, end],
  });
  const four = new Uint8Array(4);
  const hostile: [string, Uint8Array, RegExp][] = [
    ['nothing', new Uint8Array(0), /0 bytes, too few/],
    ['half a length', new Uint8Array(7), /7 bytes, too few/],
    ['a header longer than the file', file({}, four, 7n), /a header of 7 bytes in a file of 14/],
    ['a header of 2^63 bytes', file({}, four, 2n ** 63n), /9223372036854775808 bytes, more than the 100000000 allowed/],
    ['a header that is not JSON', file('{"a":'), /not JSON/],
    ['a header that is a list', file([]), /no JSON object/],
    ['a header that is not UTF-8', file('{}', Uint8Array.of(0xff), 3n), /not UTF-8/],
    ['an entry that is a number', file({ a: 1 }), /"a" without dtype/],
    ['an unknown dtype', file({ a: { ...u8(0, 4), dtype: 'BF16' } }, four), /"a" of dtype "BF16"/],
    ['a dtype that is a name of our own', file({ a: { ...u8(0, 4), dtype: 'uint8' } }, four), /"a" of dtype "uint8"/],
    ['a negative dimension', file({ a: { ...u8(0, 4), shape: [-2, -2] } }, four), /"a" of shape \[-2, -2\]/],
    ['a shape without end', file({ a: { ...u8(0, 4), shape: [1e15, 1e15] } }, four), /"a" of 1e\+30 bytes/],
    ['a shape that is a text', file({ a: { ...u8(0, 4), shape: '4' } }, four), /"a" of shape "4"/],
    ['one offset', file({ a: { ...u8(0, 4), data_offsets: [4] } }, four), /"a" at the offsets \[4\]/],
    [
      'offsets that go back',
      file({ a: { ...u8(0, 4), data_offsets: [4, 0] } }, four),
      /"a" of 4 bytes at the offsets \[4, 0\]/,
    ],
    [
      'a size that differs',
      file({ a: { ...u8(0, 4), dtype: 'F32' } }, four),
      /"a" of 16 bytes at the offsets \[0, 4\]/,
    ],
    ['offsets out of range', file({ a: u8(0, 5) }, four), /4 bytes of arrays, where the header speaks of 5/],
    [
      'overlapping arrays',
      file({ a: u8(0, 3), b: u8(2, 4) }, four),
      /"b" at the offsets \[2, 4\], where byte 3 is next/,
    ],
    [
      'one place for two',
      file({ a: u8(0, 4), b: u8(0, 4) }, four),
      /"b" at the offsets \[0, 4\], where byte 4 is next/,
    ],
    ['a gap', file({ a: u8(0, 1), b: u8(2, 4) }, four), /"b" at the offsets \[2, 4\], where byte 1 is next/],
    ['bytes left over', file({ a: u8(0, 3) }, four), /4 bytes of arrays, where the header speaks of 3/],
    [
      'a name twice',
      file(`{"a":${JSON.stringify(u8(0, 4))},"\\u0061":${JSON.stringify(u8(0, 4))}}`, four),
      /"a" twice/,
    ],
    ['a field twice', file('{"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}}'), /"dtype" twice/],
    ['metadata that are no texts', file({ __metadata__: { a: 1 } }), /__metadata__/],
  ];
  test.each(hostile)('%s is refused', (_, bytes, message) => {
    expect(() => decodeSafetensors(bytes)).toThrow(CoplayError);
    expect(() => decodeSafetensors(bytes)).toThrow(message);
  });
});

test('repeatedKey finds keys, not values, in their own object', () => {
  expect(repeatedKey('{"a":{"a":["a","a",{"a":1}]},"b":"a"}')).toBeUndefined();
  expect(repeatedKey('{"a":"b:\\"}{","b":1, "c" : 2}')).toBeUndefined();
  expect(repeatedKey('[{"a":1},{"a":1, "b":{}, "a" :2}]')).toBe('a');
});

const python = process.env['PYTHON'] ?? 'python3';
const found = spawnSync(python, ['-c', 'import numpy, safetensors.numpy']).status === 0;

describe.skipIf(!found)("against Python's safetensors (skipped where python3 has no numpy and safetensors)", () => {
  test('Python reads ours, and we read what it writes back', () => {
    const directory = mkdtempSync(join(tmpdir(), 'coplay-safetensors-'));
    try {
      const [ours, theirs] = [join(directory, 'ours'), join(directory, 'theirs')];
      writeFileSync(ours, bytesOf(arrays, { by: 'coplay' }));
      const code = `
import sys, numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
a = load_file(sys.argv[1])
assert safe_open(sys.argv[1], 'numpy').metadata() == {'by': 'coplay'}
assert a['w'].dtype == np.float32 and a['w'].shape == (2, 2) and np.isnan(a['w'][1, 0]) and np.signbit(a['w'][0, 1])
assert a['n'].dtype == np.uint16 and a['n'].tolist() == [1, 2, 65535]
assert a['d'].dtype == np.float64 and a['d'].shape == () and a['d'] == -np.inf
assert a['m'].dtype == np.uint8 and a['m'].shape == (0, 3)
assert a['agents/0/k'].dtype == np.int8 and a['agents/0/k'].tolist() == [-1]
assert a['i'].dtype == np.int32 and a['i'].tolist() == [-2**31, 7]
assert a['u'].dtype == np.uint32 and a['u'].tolist() == [2**32 - 1]
assert a['s'].dtype == np.int16 and a['s'].tolist() == [-5]
save_file(a, sys.argv[2], {'by': 'coplay'})`;
      const run = spawnSync(python, ['-c', code, ours, theirs], { encoding: 'utf8' });
      expect(run.stderr).toBe('');
      expect(decodeSafetensors(new Uint8Array(readFileSync(theirs))).arrays).toEqual(arrays);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
