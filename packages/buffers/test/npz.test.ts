import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadNpz, type StoredArrays, saveNpz } from '@coplay/buffers/npz';
import { ndarray } from '@coplay/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coplay-npz-'));
});
afterAll(async () => rm(directory, { recursive: true }));

const arrays: StoredArrays = {
  uint8: ndarray(Uint8Array.of(0, 255), [2]),
  int8: ndarray(Int8Array.of(-128, 127), [2]),
  uint16: ndarray(Uint16Array.of(0, 65535), [2, 1]),
  int16: ndarray(Int16Array.of(-32768, 32767), [1, 2]),
  uint32: ndarray(Uint32Array.of(0, 4294967295), [2]),
  int32: ndarray(Int32Array.of(-2147483648, 2147483647), [2]),
  float32: ndarray(Float32Array.of(-0, 0.1, Infinity, Number.NaN), [2, 2]),
  float64: ndarray(Float64Array.of(0.1, 1e-300), [2]),
  bool: { ...ndarray(Uint8Array.of(1, 0, 1), [3]), isBool: true },
  scalar: ndarray(Float64Array.of(2.5), []),
  empty: ndarray(new Int32Array(0), [3, 0, 2]),
  'five/dimensions': ndarray(
    Int32Array.from({ length: 72 }, (_, i) => i),
    [2, 3, 1, 4, 3],
  ),
};

describe('saveNpz and loadNpz', () => {
  it('give every array back', async () => {
    const path = join(directory, 'all.npz');
    await saveNpz(path, arrays);
    expect(await loadNpz(path)).toEqual(arrays);
  });

  it('leave the old file whole and nothing else behind when they fail', async () => {
    const occupied = join(directory, 'occupied');
    await saveNpz(join(directory, 'occupied.npz'), arrays);
    const { mkdir } = await import('node:fs/promises');
    await mkdir(occupied); // a directory can't be replaced by a file
    await expect(saveNpz(occupied, arrays)).rejects.toThrow(/^saveNpz: expected to write .*occupied, got /);
    await expect(saveNpz(join(directory, 'missing', 'a.npz'), arrays)).rejects.toThrow(/saveNpz.*ENOENT/);
    expect((await readdir(directory)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('name the file, the array and what is wrong', async () => {
    const half = { 'half \ud800': ndarray(Float32Array.of(1)) };
    await expect(saveNpz(join(directory, 'half.npz'), half)).rejects.toThrow(/names that UTF-8 can hold/);
    const path = join(directory, 'damaged.npz');
    await saveNpz(path, { first: arrays['uint8'], second: arrays['float64'] });
    const bytes = await readFile(path);
    const place = bytes.lastIndexOf(Buffer.from(Float64Array.of(0.1).buffer));
    bytes[place] ^= 1;
    await writeFile(path, bytes);
    await expect(loadNpz(path)).rejects.toThrow(/loadNpz\(.*damaged\.npz\): expected second\.npy with the checksum/);
    await writeFile(path, bytes.subarray(0, 100));
    await expect(loadNpz(path)).rejects.toThrow(/damaged\.npz\): expected a zip file, whole to its end, got 100 bytes/);
    await expect(loadNpz(join(directory, 'absent.npz'))).rejects.toThrow(/loadNpz: expected to read .*ENOENT/);
  });
});

const python = findPython();

describe.skipIf(python === undefined)(
  'numpy (skipped where no python3 with numpy is found; COPLAY_PYTHON names one)',
  () => {
    it('reads what is written here, without pickles (L12)', async () => {
      const path = join(directory, 'to-numpy.npz');
      await saveNpz(path, arrays);
      const script = `
import json, sys, numpy as np
with np.load(sys.argv[1], allow_pickle=False) as file:
    print(json.dumps({k: [str(v.dtype), list(v.shape), [repr(x) for x in v.ravel().tolist()]] for k, v in file.items()}))`;
      const read = JSON.parse(run(script, path)) as Record<string, [string, number[], string[]]>;
      expect(Object.keys(read)).toEqual(Object.keys(arrays));
      for (const [name, { data, shape, isBool }] of Object.entries(arrays)) {
        const [dtype, readShape, values] = read[name];
        const plain: Record<string, string> = { scalar: 'float64', empty: 'int32', 'five/dimensions': 'int32' };
        expect(dtype, name).toBe(plain[name] ?? name);
        expect(readShape, name).toEqual(shape);
        expect(values.map(isBool ? (value) => Number(value === 'True') : fromPython), name).toEqual(Array.from(data));
      }
    });

    it('writes what is read here: C and Fortran order, compressed or not, every type', async () => {
      const path = join(directory, 'from-numpy.npz');
      const script = `
import sys, numpy as np
base = np.arange(120).reshape(2, 3, 4, 5)
arrays = {t: base.astype(t) for t in ['u1', 'i1', 'u2', 'i2', 'u4', 'i4', 'i8', 'u8', 'f2', 'f4', 'f8', '>i2', '>f8']}
arrays['fortran'] = np.asfortranarray(base.astype('f4'))
arrays['bool'] = base % 2 == 1
arrays['scalar'] = np.float32(2.5)
arrays['empty'] = np.zeros((0, 3), 'f4')
np.savez(sys.argv[1], **arrays)
np.savez_compressed(sys.argv[1] + '.small.npz', **arrays)
np.savez(sys.argv[1] + '.bad.npz', good=base, bad=np.array([{}], dtype=object))`;
      run(script, path);
      for (const file of [path, `${path}.small.npz`]) {
        const { bool, scalar, empty, ...rest } = await loadNpz(file);
        for (const [name, { data, shape }] of Object.entries(rest)) {
          expect(shape, name).toEqual([2, 3, 4, 5]);
          expect(Array.from(data), name).toEqual(Array.from({ length: 120 }, (_, i) => i));
        }
        expect(bool).toEqual({
          data: Uint8Array.from({ length: 120 }, (_, i) => i % 2),
          shape: [2, 3, 4, 5],
          isBool: true,
        });
        expect([scalar, empty]).toEqual([ndarray(Float32Array.of(2.5), []), ndarray(new Float32Array(0), [0, 3])]);
      }
      expect((await stat(`${path}.small.npz`)).size).toBeGreaterThan(0);
      await expect(loadNpz(`${path}.bad.npz`)).rejects.toThrow(
        /bad\.npz\): bad: expected .*got Python objects \(a pickle\)/,
      );
    });

    it('reads the 64 bit form of a zip', async () => {
      const { zipParts } = await import('../src/npz/zip-write');
      const { npyParts } = await import('../src/npz/npy');
      const path = join(directory, 'zip64.npz');
      const entries = ['a', 'b'].map((name, i) => ({
        name: `${name}.npy`,
        parts: npyParts(name, ndarray(Int32Array.of(i, 7))),
      }));
      await writeFile(path, Buffer.concat(zipParts(entries, 50)));
      const script = 'import sys, numpy as np; f = np.load(sys.argv[1]); print(f["a"].tolist(), f["b"].tolist())';
      expect(run(script, path).trim()).toBe('[0, 7] [1, 7]');
    });
  },
);

function findPython(): string | undefined {
  const candidates = [process.env['COPLAY_PYTHON'], 'python3', 'python'];
  return candidates.find((name) => name && spawnSync(name, ['-c', 'import numpy']).status === 0);
}

function run(script: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(python as string, ['-c', script, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

function fromPython(text: string): number {
  if (text === 'nan') return Number.NaN;
  return text === 'inf' ? Infinity : Number(text);
}
