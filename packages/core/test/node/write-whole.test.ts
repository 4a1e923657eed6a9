import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoplayError } from '@coplay/core';
import * as node from '@coplay/core/node';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundleProgram, placeOfPrograms } from '../../../../test/programs';
import * as browser from '../../src/node/browser';

const { TEMPORARY_ENDING, writeWhole, writeWholeSync } = node;
const writers = { writeWhole, writeWholeSync } as const;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coplay-whole-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A writer's error, as text; '' if it writes. */
async function refusal(write: () => number | Promise<number>): Promise<string> {
  try {
    await write();
    return '';
  } catch (error) {
    expect(error).toBeInstanceOf(CoplayError);
    return String(error);
  }
}

describe.each(Object.entries(writers))('%s', (_, write) => {
  it('writes text, bytes and pieces, and returns how many bytes they are', async () => {
    const file = join(folder, 'a.txt');
    expect(await write(file, 'né')).toBe(3);
    expect(readFileSync(file, 'utf8')).toBe('né');
    expect(await write(file, Uint8Array.of(1, 2, 3).subarray(1))).toBe(2);
    expect([...readFileSync(file)]).toEqual([2, 3]);
    expect(await write(file, [Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(2, 3)])).toBe(3);
    expect([...readFileSync(file)]).toEqual([1, 2, 3]);
    expect(await write(file, '')).toBe(0);
    expect(readdirSync(folder)).toEqual(['a.txt']);
  });

  it('is not hindered by what a killed process with the same number left', async () => {
    const left = [
      `a.${process.pid}.tmp`,
      `a.${process.pid}-0.tmp`,
      'a.tmp',
      `a.writing-${process.pid}-0`,
      'a.writing-0',
    ];
    for (const name of left) writeFileSync(join(folder, name), 'half');
    await write(join(folder, 'a'), 'whole');
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('whole');
    expect(readdirSync(folder).sort()).toEqual([...left, 'a'].sort());
  });

  it('leaves what was there, and nothing else, where making the content fails', async () => {
    const file = join(folder, 'a');
    await write(file, 'old');
    function* pieces(): Generator<Uint8Array> {
      yield Uint8Array.of(1);
      throw new RangeError('no more pieces');
    }
    expect(await refusal(() => write(file, pieces()))).toMatch(/to write .*a, got no more pieces/);
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('makes the folder where it is asked to, and says that there is none where it is not', async () => {
    const file = join(folder, 'runs', 'a', 'log');
    expect(await refusal(() => write(file, '', { where: 'saveIt' }))).toMatch(
      /^CoplayError: saveIt: expected to write .*runs\/a\/log, got no such directory \(ENOENT/,
    );
    await write(file, 'x', { makeFolder: true });
    expect(readFileSync(file, 'utf8')).toBe('x');
  });

  it('refuses a name that is a folder, a folder that is a file, and a device, and leaves them as they are', async () => {
    mkdirSync(join(folder, 'd'));
    writeFileSync(join(folder, 'f'), 'text');
    expect(await refusal(() => write(join(folder, 'd'), ''))).toMatch(/got a directory of that name/);
    expect(await refusal(() => write(join(folder, 'f', 'x'), ''))).toMatch(/got a file where a directory should be/);
    expect(await refusal(() => write(join(folder, 'f', 'x'), '', { makeFolder: true }))).toMatch(
      /got a file where a directory should be/,
    );
    expect(await refusal(() => write('/dev/null', 'x'))).toMatch(/\/dev\/null is a device/);
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['d', 'f']);
  });

  it('writes every name that the system allows, of 255 bytes, and says of a longer one that it is too long', async () => {
    const longest = `${'ä'.repeat(127)}x`;
    await write(join(folder, longest), 'x');
    expect(readdirSync(folder)).toEqual([longest]);
    expect(await refusal(() => write(join(folder, `${longest}x`), 'x'))).toMatch(/a name that is too long/);
    expect(readdirSync(folder)).toEqual([longest]);
  });

  it('replaces the file that a link leads to, and keeps the link', async () => {
    writeFileSync(join(folder, 'real'), 'old');
    symlinkSync('real', join(folder, 'link'));
    await write(join(folder, 'link'), 'new');
    expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'real'), 'utf8')).toBe('new');
  });

  // The administrator may write everywhere.
  it.skipIf(process.getuid?.() === 0)('says that a folder can only be read', async () => {
    chmodSync(folder, 0o555);
    expect(await refusal(() => write(join(folder, 'a'), ''))).toMatch(/no permission to write there/);
    chmodSync(folder, 0o755);
  });
});

describe('a disk of its own', () => {
  const disk = mkdtempSync(join(tmpdir(), 'coplay-disk-'));
  // Needs the administrator of a Linux machine.
  const canMount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', disk]).status === 0;
  afterAll(() => {
    spawnSync('umount', [disk]);
    rmSync(disk, { recursive: true, force: true });
  });

  it.skipIf(!canMount)('that is full, or can only be read: the old file stays, and nothing else', async () => {
    for (const write of Object.values(writers)) {
      await write(join(disk, 'a'), 'old');
      expect(await refusal(() => write(join(disk, 'a'), new Uint8Array(100_000)))).toMatch(/disk full \(ENOSPC/);
      expect(readdirSync(disk)).toEqual(['a']);
      expect(readFileSync(join(disk, 'a'), 'utf8')).toBe('old');
    }
    spawnSync('mount', ['-o', 'remount,ro', disk]);
    for (const write of Object.values(writers)) {
      expect(await refusal(() => write(join(disk, 'a'), 'new'))).toMatch(/read-only file system \(EROFS/);
    }
    expect(readFileSync(join(disk, 'a'), 'utf8')).toBe('old');
  });
});

const programs = placeOfPrograms();

it('a kill at any moment leaves the old file or the new one', { tags: ['slow'] }, async () => {
  const file = join(folder, 'a');
  const contents = `
    import { writeWholeSync } from './index';
    for (let mark = 0; ; mark = (mark + 1) % 10) {
      writeWholeSync(${JSON.stringify(file)}, new Uint8Array(2 ** 20).fill(mark));
      if (mark === 1) process.stdout.write('.');
    }`;
  const resolveDir = join(import.meta.dirname, '../../src/node');
  const program = await bundleProgram(join(programs, 'writer.mjs'), { stdin: { contents, resolveDir, loader: 'ts' } });
  let broken = 0;
  for (let kill = 0; kill < 8; kill++) {
    const child = spawn(process.execPath, [program]);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    await new Promise((resolve) => setTimeout(resolve, kill));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    const bytes = readFileSync(file);
    expect(bytes).toHaveLength(2 ** 20);
    expect(bytes.every((byte) => byte === bytes[0])).toBe(true);
    if (readdirSync(folder).some((name) => TEMPORARY_ENDING.test(name))) broken++;
  }
  expect(broken).toBeGreaterThan(0); // else no kill came while it wrote
  writeWholeSync(file, 'whole');
  expect(readFileSync(file, 'utf8')).toBe('whole');
});

describe('@coplay/core/node in a bundle for a browser', () => {
  it('has the same names', () => {
    expect(Object.keys(browser).sort()).toEqual(Object.keys(node).sort());
  });

  it('refuses what needs files, by the name of the caller', () => {
    expect(() => browser.writeWhole('a', '', { where: 'saveNpz' })).toThrow(
      /^saveNpz: expected Node, .* got a browser/,
    );
    expect(() => browser.takeLock('selfPlay')).toThrow(/^selfPlay: expected Node/);
    expect(existsSync('a')).toBe(false);
  });
});
