import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoplayError, type SavedState } from '@coplay/core';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FileSystem, nodeFileSystem } from './file-system';
import { latestCheckpoint, loadCheckpoint } from './load';
import { saveCheckpoint } from './save';
import { type Change, systemError, watched } from './test-file-systems';
import { FORMAT_VERSION } from './version';

let directory: string;
let files: FileSystem;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'coplay-save-'));
  files = await nodeFileSystem();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A state that tells which save it was, in both files. */
function stateOf(mark: number): SavedState {
  return {
    mark,
    agents: [{ w: { data: Float32Array.of(mark, mark / 3), shape: [2, 1] } }],
    words: Uint32Array.of(1, mark),
  };
}

async function latestMark(): Promise<unknown> {
  const { checkpoint } = await latestCheckpoint(directory);
  if (checkpoint) expect(checkpoint.saved).toEqual(stateOf(checkpoint.saved['mark'] as number));
  return checkpoint?.saved['mark'];
}

describe('saveCheckpoint', () => {
  test('keeps a checkpoint of the same step that it cannot read, such as one of a newer version', async () => {
    for (const version of ['99', '100']) {
      const path = await saveCheckpoint(directory, 24, stateOf(1));
      writeFileSync(join(path, 'manifest.json'), `{"format": "coplay-checkpoint", "formatVersion": ${version}}`);
    }
    await saveCheckpoint(directory, 24, stateOf(3), { keep: 1 });
    expect(await latestMark()).toBe(3);
    const names = ['step-000000000024', 'step-000000000024.unreadable-1', 'step-000000000024.unreadable-2'];
    expect(readdirSync(directory).sort()).toEqual(names);
    expect(readFileSync(join(directory, names[2], 'manifest.json'), 'utf8')).toContain('100');
  });

  test.each(['arrays.safetensors', 'state.json'])(
    'keeps a checkpoint of the same step with a damaged %s',
    async (name) => {
      const path = await saveCheckpoint(directory, 24, stateOf(1));
      const bytes = readFileSync(join(path, name));
      bytes[bytes.length - 1] ^= 1;
      writeFileSync(join(path, name), bytes);
      await saveCheckpoint(directory, 24, stateOf(2));
      expect(await latestMark()).toBe(2);
      expect(readdirSync(directory).sort()).toEqual(['step-000000000024', 'step-000000000024.unreadable-1']);
      expect(readFileSync(join(directory, 'step-000000000024.unreadable-1', name))).toEqual(bytes);
    },
  );

  test('makes one directory a step, with readable files', async () => {
    const nested = join(directory, 'runs', 'a', 'checkpoints');
    const path = await saveCheckpoint(nested, 12345, stateOf(7), { about: { game: 'stag-hunt', update: 3 } });
    expect(path).toBe(`${nested}/step-000000012345`);
    expect(readdirSync(nested)).toEqual(['step-000000012345']);
    expect(readdirSync(path).sort()).toEqual(['arrays.safetensors', 'manifest.json', 'state.json']);
    const manifest = JSON.parse(readFileSync(`${path}/manifest.json`, 'utf8'));
    expect(manifest).toMatchObject({
      format: 'coplay-checkpoint',
      formatVersion: FORMAT_VERSION,
      step: 12345,
      sequence: 1,
    });
    expect(manifest.about).toEqual({ game: 'stag-hunt', update: 3 });
    const sum = spawnSync('sha256sum', [`${path}/state.json`], { encoding: 'utf8' });
    if (sum.status === 0) expect(sum.stdout.slice(0, 64)).toBe(manifest.files['state.json'].sha256);
    expect(await loadCheckpoint(path)).toEqual({
      path,
      step: 12345,
      about: { game: 'stag-hunt', update: 3 },
      library: manifest.library,
      saved: stateOf(7),
    });
  });

  test('keeps the newest n, 3 by default', async () => {
    for (let step = 0; step <= 5; step++) await saveCheckpoint(directory, step, stateOf(step));
    expect(readdirSync(directory).sort()).toEqual(['step-000000000003', 'step-000000000004', 'step-000000000005']);
    await saveCheckpoint(directory, 6, stateOf(6), { keep: 1 });
    expect(readdirSync(directory)).toEqual(['step-000000000006']);
    for (let step = 7; step <= 12; step++) await saveCheckpoint(directory, step, stateOf(step), { keep: Infinity });
    expect(readdirSync(directory)).toHaveLength(7);
  });

  test('the one saved last is the newest, also when a run went back to an earlier step', async () => {
    for (const step of [100, 200, 300]) await saveCheckpoint(directory, step, stateOf(step));
    await saveCheckpoint(directory, 150, stateOf(150));
    expect(await latestMark()).toBe(150);
    expect(readdirSync(directory).sort()).toEqual(['step-000000000150', 'step-000000000200', 'step-000000000300']);
    await saveCheckpoint(directory, 300, stateOf(301)); // replaces the one of the abandoned run
    expect(await latestMark()).toBe(301);
    expect(readdirSync(directory).sort()).toEqual(['step-000000000150', 'step-000000000200', 'step-000000000300']);
  });

  test('leaves alone what is not ours or cannot be read', async () => {
    const foreign = ['notes.txt', 'step-1', 'step-abc', 'step-000000000001.writing', 'step-000000000009'];
    for (const name of foreign) mkdirSync(join(directory, name));
    for (const step of [1, 2, 3, 4]) await saveCheckpoint(directory, step, stateOf(step), { keep: 1 });
    expect(readdirSync(directory).sort()).toEqual([...foreign, 'step-000000000004'].sort());
  });

  test('removes leftovers of dead processes and of itself, not those of one at work', async () => {
    const dead = spawnSync(process.execPath, ['--version']).pid;
    const left = (purpose: string, owner: number): string => `step-000000000001.${purpose}-${owner}-0`;
    const abandoned = [left('writing', dead), left('removing', dead), left('writing', process.pid)];
    const inUse = [left('writing', process.ppid), left('replaced', process.ppid)];
    for (const name of [...abandoned, ...inUse]) mkdirSync(join(directory, name));
    expect(await latestMark()).toBeUndefined();
    await saveCheckpoint(directory, 2, stateOf(2));
    expect(readdirSync(directory).sort()).toEqual([...inUse, 'step-000000000002'].sort());
  });

  test('puts everything on the disk in the order that a power cut needs', async () => {
    await saveCheckpoint(directory, 1, stateOf(1));
    const log: string[] = [];
    const short = (path: string): string => path.replace(`${directory}/`, '').replace(/-\d+-\d+/, '');
    const watching = watched(files, (change, path) => log.push(`${change} ${short(path)}`));
    await saveCheckpoint(directory, 1, stateOf(2), { fileSystem: watching });
    const writing = 'step-000000000001.writing';
    expect(log.slice(1)).toEqual([
      `makeDirectory ${writing}`,
      `write ${writing}/arrays.safetensors`,
      `write ${writing}/state.json`,
      `write ${writing}/manifest.json`,
      `syncDirectory ${writing}`,
      'rename step-000000000001', // steps aside
      `rename ${writing}`,
      `syncDirectory ${directory}`,
      'remove step-000000000001.replaced',
    ]);
  });

  test('refuses wrong arguments before it touches the disk', async () => {
    const nowhere = join(directory, 'nowhere');
    const save = (step: unknown, saved: unknown, options: unknown): Promise<string> =>
      saveCheckpoint(nowhere, step as number, saved as SavedState, options as object);
    await expect(save(-1, {}, {})).rejects.toThrow(
      /saveCheckpoint: expected step to be a whole number from 0 on, got -1/,
    );
    await expect(save(1.5, {}, {})).rejects.toThrow(/got 1.5/);
    await expect(save(1, { f: () => 1 }, {})).rejects.toThrow(/saveCheckpoint: saved: expected f to be/);
    await expect(save(1, {}, { keep: 0 })).rejects.toThrow(
      /option keep: expected a whole number of at least 1, or Infinity, got 0/,
    );
    await expect(save(1, {}, { kept: 2 })).rejects.toThrow(/unknown option "kept"/);
    await expect(save(1, {}, { about: { n: 1n } })).rejects.toThrow(/about to be JSON/);
    await expect(save(1, {}, { fileSystem: 'disk' })).rejects.toThrow(
      /option fileSystem: expected a file system, got "disk"/,
    );
    await expect(save(1, { __metadata__: new Uint8Array(1) }, {})).rejects.toThrow(/"__metadata__"/);
    expect(readdirSync(directory)).toEqual([]);
  });
});

/** Three saves: a new step, the same one again, another; each keeps one. The marks are 2, 3, 4. */
async function saveThree(fileSystem: FileSystem, done: (mark: number) => void): Promise<void> {
  for (const [step, mark] of [
    [2, 2],
    [2, 3],
    [5, 4],
  ]) {
    await saveCheckpoint(directory, step, stateOf(mark), { keep: 1, fileSystem, warn: () => undefined });
    done(mark);
  }
}

describe('a process that dies', () => {
  test('at any operation leaves the last complete checkpoint, and the next save tidies up', {
    tags: ['slow'],
  }, async () => {
    const died = new Error('died');
    let operations = 0;
    for (let last = 0; operations >= last; last++) {
      rmSync(directory, { recursive: true });
      await saveCheckpoint(directory, 1, stateOf(1));
      let complete = 1;
      operations = 0;
      // Everything that the dying process would do after that fails as well.
      const dying = watched(files, () => {
        if (++operations > last) throw died;
      });
      await saveThree(dying, (mark) => {
        complete = mark;
      }).catch((error: unknown) => expect((error as Error).cause).toBe(died));
      // What was being saved may be complete although the process couldn't say so.
      expect([complete, complete + 1]).toContain(await latestMark());
      await saveCheckpoint(directory, 9, stateOf(9), { keep: 1 });
      expect(readdirSync(directory)).toEqual(['step-000000000009']);
    }
    expect(operations).toBeGreaterThan(20); // the three saves take that many at least
  });

  test('between the two renames of a replacement leaves a good one, and the next save puts it back', async () => {
    await saveCheckpoint(directory, 1, stateOf(1));
    let renames = 0;
    const dying = watched(files, (change) => {
      if (renames > 1 || (change === 'rename' && ++renames > 1)) throw new Error('died');
    });
    await expect(saveCheckpoint(directory, 1, stateOf(2), { fileSystem: dying })).rejects.toThrow('died');
    expect(readdirSync(directory)).not.toContain('step-000000000001');
    expect(await latestMark()).toBe(1);
    await saveCheckpoint(directory, 5, stateOf(5));
    expect(readdirSync(directory).sort()).toEqual(['step-000000000001', 'step-000000000005']);
  });
});

describe('a disk that refuses', () => {
  const failures: [string, (change: Change) => boolean, RegExp][] = [
    ['ENOSPC', (change) => change === 'write' || change === 'makeDirectory', /disk full \(ENOSPC: no room\)/],
    ['EDQUOT', (change) => change === 'write', /disk quota used up \(EDQUOT: no room\)/],
    ['EIO', (change) => change === 'rename' || change === 'syncDirectory', /the disk failed \(EIO: no room\)/],
    ['EROFS', () => true, /read-only file system \(EROFS: no room\)/],
    ['EACCES', () => true, /no permission to write there \(EACCES: no room\)/],
  ];
  test.each(failures)(
    '%s at any operation: a clear error, the older checkpoints intact',
    { tags: ['slow'] },
    async (code, fails, message) => {
      let operations = 0;
      for (let last = 0; operations >= last; last++) {
        rmSync(directory, { recursive: true });
        await saveCheckpoint(directory, 1, stateOf(1));
        await saveCheckpoint(directory, 2, stateOf(2));
        operations = 0;
        const full = watched(files, (change) => {
          if (++operations > last && fails(change)) throw systemError(code, 'no room');
        });
        const saving = saveCheckpoint(directory, 2, stateOf(3), { fileSystem: full, warn: () => undefined });
        const error: unknown = await saving.then(
          () => undefined,
          (reason: unknown) => reason,
        );
        if (error !== undefined) {
          expect(error).toBeInstanceOf(CoplayError);
          expect(String(error)).toMatch(/saveCheckpoint: expected to write the checkpoint .*step-000000000002, got /);
          expect(String(error)).toMatch(message);
          expect(String(error)).toMatch(/The older ones are intact/);
        }
        const { checkpoint, skipped } = await latestCheckpoint(directory);
        expect(checkpoint?.saved['mark']).toBe(error === undefined || checkpoint?.saved['mark'] === 3 ? 3 : 2);
        expect(skipped).toEqual([]);
        // Where removing works, nothing is left of the failed one.
        if (error !== undefined && code !== 'EIO' && !fails('remove')) {
          expect(readdirSync(directory).sort()).toEqual(['step-000000000001', 'step-000000000002']);
        }
        await saveCheckpoint(directory, 3, stateOf(3)); // goes on when there's room again
        expect(readdirSync(directory).filter((name) => name.includes('.'))).toEqual([]);
      }
      expect(operations).toBeGreaterThan(5);
    },
  );

  test('quota at the manifest, the last file: nothing is left of the new one', async () => {
    await saveCheckpoint(directory, 1, stateOf(1));
    const full = watched(files, (change, path) => {
      if (change === 'write' && path.endsWith('manifest.json')) throw systemError('EDQUOT', 'quota exceeded');
    });
    await expect(saveCheckpoint(directory, 2, stateOf(2), { fileSystem: full })).rejects.toThrow(/disk quota used up/);
    expect(readdirSync(directory)).toEqual(['step-000000000001']);
    expect(await latestMark()).toBe(1);
  });

  test('an older one that cannot be removed is no failure: a line says so', async () => {
    const lines: string[] = [];
    const stuck = watched(files, (change, path) => {
      if (change === 'rename' && !path.includes('writing')) throw systemError('EACCES', 'not yours');
    });
    await saveCheckpoint(directory, 1, stateOf(1));
    const warn = (line: string): number => lines.push(line);
    const path = await saveCheckpoint(directory, 2, stateOf(2), { keep: 1, fileSystem: stuck, warn });
    expect(lines).toEqual([
      expect.stringMatching(`^The checkpoint ${path} is complete, but an older one could not be removed`),
    ]);
    expect(await latestMark()).toBe(2);
  });

  test('a directory that is a file', async () => {
    const path = join(directory, 'file');
    writeFileSync(path, '');
    await expect(saveCheckpoint(path, 1, {})).rejects.toThrow(/a file where a directory should be/);
  });
});

describe('a full disk of its own', () => {
  const mounted = mkdtempSync(join(tmpdir(), 'coplay-tmpfs-'));
  // Needs root on Linux; elsewhere the failing file systems above stand in.
  const canMount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', mounted]).status === 0;
  test.skipIf(!canMount)(
    'of 2 MB: the last good one is found, and saving goes on when there is room (skipped where mounting is refused)',
    async () => {
      try {
        // 600 kB each: three fit, the fourth does not.
        const big = (mark: number): SavedState => ({ data: new Float32Array(150_000).fill(mark) });
        const latest = async (): Promise<readonly number[]> => [
          ...new Set((await latestCheckpoint(mounted)).checkpoint?.saved['data'] as Float32Array),
        ];
        for (const step of [1, 2, 3]) await saveCheckpoint(mounted, step, big(step), { keep: 10 });
        await expect(saveCheckpoint(mounted, 4, big(4), { keep: 10 })).rejects.toThrow(/disk full \(ENOSPC/);
        await expect(saveCheckpoint(mounted, 3, big(4), { keep: 10 })).rejects.toThrow(/disk full \(ENOSPC/);
        expect(readdirSync(mounted).sort()).toEqual(['step-000000000001', 'step-000000000002', 'step-000000000003']);
        expect(await latest()).toEqual([3]);
        rmSync(join(mounted, 'step-000000000001'), { recursive: true });
        await saveCheckpoint(mounted, 4, big(4), { keep: 10 });
        expect(await latest()).toEqual([4]);
      } finally {
        spawnSync('umount', [mounted]);
      }
    },
  );
  afterAll(() => rmSync(mounted, { recursive: true, force: true }));
});
