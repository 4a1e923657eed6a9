import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { decodeNpz, encodeNpz, loadNpz, saveNpz } from '@coplay/buffers/npz';
import type { DType, TypedArray } from '@coplay/core';
import { dtypeOf, inThisRealm, isArrayOf } from '@coplay/core/arrays';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPython, runPython } from '../../../bench/harness';
import { decodeNpy, encodeNpy, type StoredArray } from '../src/npz/npy';
import { READABLE, REFUSED } from './odd-arrays';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coplay-odd-arrays-'));
});
afterAll(async () => rm(directory, { recursive: true }));

/** What numpy calls the dtypes of the table. */
const DESCR: Partial<Record<DType, string>> = {
  uint8: '|u1',
  int16: '<i2',
  int32: '<i4',
  float32: '<f4',
  float64: '<f8',
};

/** Numbers of a .npy file as its format says, read by nothing of ours. */
function readNpy(bytes: Uint8Array): { descr: string; values: number[] } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  expect(String.fromCharCode(...bytes.subarray(1, 6)), 'magic').toBe('NUMPY');
  const start = 10 + view.getUint16(8, true);
  const header = String.fromCharCode(...bytes.subarray(10, start));
  const descr = /'descr': '([^']+)'/.exec(header)?.[1] ?? '';
  const [kind, size] = [descr.slice(0, 2), Number(descr.slice(2))];
  const read = (at: number) => {
    if (kind === '<f') return size === 4 ? view.getFloat32(at, true) : view.getFloat64(at, true);
    if (kind === '<i') return size === 4 ? view.getInt32(at, true) : view.getInt16(at, true);
    return view.getUint8(at);
  };
  return { descr, values: Array.from({ length: (bytes.length - start) / size }, (_, i) => read(start + i * size)) };
}

const near = (values: readonly number[], dtype: DType) => (dtype === 'float32' ? values.map(Math.fround) : [...values]);

describe.each(READABLE)('%s', (_, make, dtype, values) => {
  it('has a dtype, and a twin in this realm', () => {
    expect(dtypeOf(make())).toBe(dtype);
    expect(isArrayOf(dtype, make())).toBe(true);
    const twin = inThisRealm(make());
    expect(Array.from(twin)).toEqual(near(values, dtype));
    const kinds = [Uint8Array, Int16Array, Int32Array, Float32Array, Float64Array];
    expect(kinds.some((Kind) => twin instanceof Kind)).toBe(true);
  });

  it('is written so that others can read it', async () => {
    const array: StoredArray = { data: make(), shape: [1, 2] };
    const expected = { descr: DESCR[dtype], values: near(values, dtype) };
    expect(readNpy(encodeNpy(array))).toEqual(expected);
    expect(readNpy(unzipSync(encodeNpz({ x: array }))['x.npy'])).toEqual(expected);
    const path = join(directory, 'odd.npz');
    await saveNpz(path, { x: array });
    expect(readNpy(unzipSync(await readFile(path))['x.npy'])).toEqual(expected);
    const back = (await loadNpz(path))['x'];
    expect([dtypeOf(back.data), [...back.data], back.shape]).toEqual([dtype, expected.values, [1, 2]]);
  });
});

it('bytes are read from a Buffer and from another realm as from a Uint8Array', () => {
  const bytes = encodeNpz({ x: { data: Float32Array.of(0.5, -2), shape: [2] } });
  const sources = {
    Buffer: Buffer.from(bytes),
    foreign: runInNewContext('Uint8Array.from(bytes)', { bytes }) as Uint8Array,
  };
  for (const [what, source] of Object.entries(sources)) {
    expect(Array.from(decodeNpz(source)['x'].data), what).toEqual([0.5, -2]);
    expect(Array.from(decodeNpy(unzipSync(Buffer.from(source))['x.npy']).data), what).toEqual([0.5, -2]);
  }
});

describe.each(REFUSED)('%s', (_, make, shown) => {
  it('is refused by name, and nothing is written', async () => {
    const array = { data: make() as TypedArray, shape: [2] };
    const path = join(directory, 'refused.npz');
    expect(() => dtypeOf(make() as TypedArray)).toThrow(`got ${shown}`);
    expect(() => encodeNpy(array)).toThrow(`got ${shown}`);
    expect(() => encodeNpz({ good: { data: Int8Array.of(1), shape: [1] }, odd: array })).toThrow(/encodeNpz: .*odd/);
    await expect(saveNpz(path, { odd: array })).rejects.toThrow(`got ${shown}`);
    await expect(readFile(path)).rejects.toThrow('ENOENT');
  });
});

const python = findPython(['numpy']);

it.skipIf('missing' in python)('numpy reads all of them (skipped where there is no numpy)', async () => {
  if ('missing' in python) throw new Error(python.missing);
  const path = join(directory, 'numpy.npz');
  await saveNpz(path, Object.fromEntries(READABLE.map(([what, make]) => [what, { data: make(), shape: [2] }])));
  const script = `
import json, sys, numpy as np
file = np.load(sys.argv[1], allow_pickle=False)
print(json.dumps({k: [v.dtype.str, v.tolist()] for k, v in file.items()}))`;
  const read = JSON.parse(await runPython(python.command, ['-c', script, path])) as Record<string, [string, number[]]>;
  for (const [what, , dtype, values] of READABLE) expect(read[what]).toEqual([DESCR[dtype], near(values, dtype)]);
});
