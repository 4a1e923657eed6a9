import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoplayError } from '@coplay/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nodeFileSystem } from './file-system';
import { createRunDirectory, runtimeVersions, writeFileAtomic } from './run-directory';
import { systemError, watched } from './test-file-systems';
import { LIBRARY_VERSION } from './version';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coplay-run-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

describe('createRunDirectory', () => {
  test('writes the configuration and the versions', async () => {
    const path = join(directory, 'runs', 'ppo');
    await createRunDirectory(path, { config: { seed: 1, game: { size: 4 } }, versions: runtimeVersions() });
    expect(readdirSync(path).sort()).toEqual(['config.json', 'versions.json']);
    expect(json(`${path}/config.json`)).toEqual({ seed: 1, game: { size: 4 } });
    expect(json(`${path}/versions.json`)).toEqual({
      coplay: LIBRARY_VERSION,
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
    });
  });

  test('refuses a second run, even the same', async () => {
    const options = { config: { seed: 1 }, versions: {} };
    await createRunDirectory(directory, options);
    const second = createRunDirectory(directory, { config: { seed: 2 }, versions: {} });
    await expect(second).rejects.toThrow(CoplayError);
    await expect(second).rejects.toThrow(
      /without a run in it, got one with a config.json. Choose another directory, or resume/,
    );
    await expect(createRunDirectory(directory, options)).rejects.toThrow(/without a run/);
    expect(json(`${directory}/config.json`)).toEqual({ seed: 1 });
  });

  test('a resumed run keeps what was written before', async () => {
    const run = (steps: number): Promise<void> =>
      createRunDirectory(directory, { config: { steps }, versions: { node: 'v20' }, resume: true });
    for (const steps of [100, 100, 200, 200, 300]) await run(steps);
    expect(readdirSync(directory).sort()).toEqual(['config.1.json', 'config.2.json', 'config.json', 'versions.json']);
    expect(json(`${directory}/config.1.json`)).toEqual({ steps: 100 });
    expect(json(`${directory}/config.2.json`)).toEqual({ steps: 200 });
    expect(json(`${directory}/config.json`)).toEqual({ steps: 300 });
  });

  test('says why it cannot be made', async () => {
    const path = join(directory, 'file');
    writeFileSync(path, '');
    const options = { config: {}, versions: {} };
    await expect(createRunDirectory(join(path, 'run'), options)).rejects.toThrow(/a file where a directory should be/);
    await expect(createRunDirectory(directory, { ...options, resum: true } as typeof options)).rejects.toThrow(
      /unknown option "resum"/,
    );
  });
});

describe('writeFileAtomic', () => {
  test('a failure at any operation leaves the old content and nothing else', async () => {
    const path = join(directory, 'policy.json');
    const files = await nodeFileSystem();
    let operations = 0;
    for (let last = 0; operations >= last; last++) {
      await writeFileAtomic(path, 'old');
      operations = 0;
      const full = watched(files, (change) => {
        if (change !== 'remove' && ++operations > last) throw systemError('ENOSPC', 'no room');
      });
      const failed = await writeFileAtomic(path, new TextEncoder().encode('new'), full).then(() => '', String);
      if (failed !== '') expect(failed).toMatch(/writeFileAtomic: expected to write .*policy.json, got disk full/);
      expect(readFileSync(path, 'utf8')).toBe(last < 1 ? 'old' : 'new');
      expect(readdirSync(directory)).toEqual(['policy.json']);
    }
  });
});

test('LIBRARY_VERSION is that of package.json', () => {
  expect(json(join(import.meta.dirname, '../../package.json'))).toMatchObject({ version: LIBRARY_VERSION });
});
