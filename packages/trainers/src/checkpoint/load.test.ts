import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoplayError, type SavedState } from '@coplay/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FileSystem, nodeFileSystem } from './file-system';
import { latestCheckpoint, loadCheckpoint } from './load';
import { saveCheckpoint } from './save';
import { LIBRARY_VERSION } from './version';

const NAMES = ['arrays.safetensors', 'manifest.json', 'state.json'];
const state: SavedState = { step: 9, lr: 0.1, nothing: {}, w: Float32Array.of(1, 2, 3), none: new Float64Array(0) };

let directory: string;
let path: string;
let disk: FileSystem;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'coplay-load-'));
  path = await saveCheckpoint(join(directory, 'sound'), 9, state, { about: { game: 'stag-hunt' } });
  disk = await nodeFileSystem();
});
afterAll(() => rmSync(directory, { recursive: true }));

/** The disk, with one file of the checkpoint changed. */
function changed(name: string, change: (bytes: Uint8Array) => Uint8Array): FileSystem {
  return {
    ...disk,
    read: async (file) => (file === `${path}/${name}` ? change(await disk.read(file)) : disk.read(file)),
  };
}

async function reasonOf(fileSystem: FileSystem): Promise<string> {
  const error: unknown = await loadCheckpoint(path, { fileSystem }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof CoplayError)) return `no CoplayError but ${String(error)}`;
  expect(error.complaint.expected).toBe(`a complete checkpoint at ${path}`);
  return error.complaint.got;
}

describe('loadCheckpoint', () => {
  test.each(NAMES)('any byte of %s changed is refused by name', async (name) => {
    const size = readFileSync(`${path}/${name}`).length;
    expect(size).toBeGreaterThan(50);
    // One bit, another digit or letter, another white space, no ASCII.
    for (const mask of [1, 3, 0x20, 0x80]) {
      for (let at = 0; at < size; at++) {
        const damaged = changed(name, (bytes) => {
          const copy = bytes.slice();
          copy[at] ^= mask;
          return copy;
        });
        const reason = await reasonOf(damaged);
        // A manifest whose version number changed says that it's another version; the file is named for every change.
        if (!/(newer|older) form/.test(reason)) expect(`${at}: ${reason}`).toContain(name);
      }
    }
  });

  test.each(NAMES)('%s cut at any length, or longer, is refused by name', async (name) => {
    const size = readFileSync(`${path}/${name}`).length;
    for (let length = 0; length < size; length++) {
      expect(await reasonOf(changed(name, (bytes) => bytes.subarray(0, length)))).toContain(name);
    }
    expect(await reasonOf(changed(name, (bytes) => new Uint8Array([...bytes, 32])))).toContain(name);
  });

  /** A copy of the sound checkpoint, changed on the disk. */
  function copyOf(name: string, change: (copy: string) => void): string {
    const copy = join(directory, name, 'step-000000000009');
    mkdirSync(join(directory, name));
    cpSync(path, copy, { recursive: true });
    change(copy);
    return copy;
  }

  const wrong: [string, (copy: string) => void, RegExp][] = [
    ['nothing there', (copy) => rmSync(copy, { recursive: true }), /no manifest.json \(unfinished, or no checkpoint\)/],
    ['no manifest', (copy) => rmSync(`${copy}/manifest.json`), /no manifest.json/],
    ['no arrays', (copy) => rmSync(`${copy}/arrays.safetensors`), /got no arrays.safetensors\. Use the one before it/],
    ['no state', (copy) => rmSync(`${copy}/state.json`), /got no state.json/],
    ['a cut file', (copy) => truncateSync(`${copy}/state.json`, 10), /state.json of 10 bytes instead of \d+/],
    [
      'an exchange',
      (copy) => cpSync(`${copy}/manifest.json`, `${copy}/state.json`),
      /state.json of \d+ bytes instead of/,
    ],
    [
      'a directory in place of a file',
      (copy) => {
        rmSync(`${copy}/state.json`);
        mkdirSync(`${copy}/state.json`);
      },
      /state.json that can't be read/,
    ],
    [
      'another format',
      (copy) => writeFileSync(`${copy}/manifest.json`, '{"format": "pytorch"}'),
      /manifest.json of something else \(format "pytorch"\)/,
    ],
    ['a list', (copy) => writeFileSync(`${copy}/manifest.json`, '[]'), /manifest.json of something else/],
    ['no JSON', (copy) => writeFileSync(`${copy}/manifest.json`, 'PK'), /damaged manifest.json/],
    [
      'a newer version',
      (copy) => {
        const manifest = { format: 'coplay-checkpoint', formatVersion: 3, library: '9.0.0', any: 'thing' };
        writeFileSync(`${copy}/manifest.json`, JSON.stringify(manifest));
      },
      /a newer form \(version 3, written by @coplay\/trainers "9.0.0"\)\. This is .* which reads version 2: update it/,
    ],
    [
      'an older version',
      (copy) => {
        const manifest = { format: 'coplay-checkpoint', formatVersion: 1, library: '0.0.9', any: 'thing' };
        writeFileSync(`${copy}/manifest.json`, JSON.stringify(manifest));
      },
      /an older form \(version 1, written by @coplay\/trainers "0.0.9"\)\. This is .* which reads version 2: train again/,
    ],
  ];
  test.each(wrong)('%s is refused, saying so', async (name, change, message) => {
    const copy = copyOf(name.replaceAll(' ', '-'), change);
    await expect(loadCheckpoint(copy)).rejects.toThrow(CoplayError);
    await expect(loadCheckpoint(copy)).rejects.toThrow(message);
    await expect(loadCheckpoint(copy)).rejects.toThrow(`a complete checkpoint at ${copy}`);
  });

  test('a checkpoint may be moved and renamed', async () => {
    const elsewhere = join(directory, 'best');
    renameSync(
      copyOf('moved', () => undefined),
      elsewhere,
    );
    expect((await loadCheckpoint(elsewhere)).saved).toEqual(state);
  });
});

describe('latestCheckpoint', () => {
  test('finds nothing in an empty place or in none', async () => {
    mkdirSync(join(directory, 'empty'));
    expect(await latestCheckpoint(join(directory, 'empty'))).toEqual({ skipped: [] });
    expect(await latestCheckpoint(join(directory, 'none'))).toEqual({ skipped: [] });
  });

  test('refuses damaged, foreign and newer ones by name and takes the one before', async () => {
    const place = join(directory, 'several');
    const at = (step: number): string => `${place}/step-${String(step).padStart(12, '0')}`;
    for (let step = 1; step <= 5; step++) await saveCheckpoint(place, step, { step }, { keep: 9 });
    const bytes = readFileSync(`${at(5)}/state.json`);
    bytes[bytes.length - 3] ^= 1;
    writeFileSync(`${at(5)}/state.json`, bytes);
    rmSync(`${at(4)}/arrays.safetensors`);
    rmSync(`${at(3)}/manifest.json`);
    mkdirSync(at(6));
    writeFileSync(`${at(6)}/manifest.json`, '{"format": "coplay-checkpoint", "formatVersion": 7}');
    const lines: string[] = [];
    const { checkpoint, skipped } = await latestCheckpoint(place, { warn: (line) => lines.push(line) });
    expect(checkpoint).toMatchObject({ path: at(2), step: 2, library: LIBRARY_VERSION, saved: { step: 2 } });
    expect(skipped).toEqual([
      { path: at(6), reason: expect.stringContaining('a newer form (version 7') },
      { path: at(3), reason: expect.stringContaining('no manifest.json') },
      { path: at(5), reason: 'a damaged state.json (its checksum differs)' },
      { path: at(4), reason: 'no arrays.safetensors' },
    ]);
    expect(lines).toHaveLength(4);
    expect(lines[2]).toBe(`The checkpoint ${at(5)} is refused: a damaged state.json (its checksum differs).`);
    expect(readdirSync(place)).toHaveLength(6); // it only reads
  });

  test('refuses unknown options', async () => {
    await expect(latestCheckpoint(directory, { warning: 1 } as object)).rejects.toThrow(
      /latestCheckpoint: .*unknown option "warning"/,
    );
    await expect(loadCheckpoint(path, { fast: true } as object)).rejects.toThrow(
      /loadCheckpoint: .*unknown option "fast"/,
    );
  });
});
