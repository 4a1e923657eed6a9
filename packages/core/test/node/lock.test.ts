import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileName, lockDirectory } from '@coplay/core/node';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundleProgram, placeOfPrograms } from '../../../../test/programs';

let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coplay-lock-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const lockFiles = () => readdirSync(folder).filter((name) => name.endsWith('.lock'));

/**
 * Waits for the moment that it's given, takes the lock of a folder, tells how that went, and keeps it. It sleeps until
 * shortly before, since five that wait on two processors would keep each other from starting.
 */
const CONTENDER = `
  import { lockDirectory } from './index';
  const [start, folder] = process.argv.slice(2);
  const left = () => Number(start) - performance.timeOrigin - performance.now();
  await new Promise((resolve) => setTimeout(resolve, left() - 50));
  while (left() > 0);
  try {
    lockDirectory('train', folder);
    console.log('held');
    setInterval(() => {}, 1000);
  } catch (error) {
    console.log(error.message);
  }`;

const program = join(placeOfPrograms(), 'contender.mjs');
beforeAll(async () => {
  const resolveDir = join(import.meta.dirname, '../../src/node');
  await bundleProgram(program, { stdin: { contents: CONTENDER, resolveDir, loader: 'ts' } });
});

function contender(start: number): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, [program, String(start), folder]);
  children.push(child);
  return new Promise((resolve) => child.stdout.once('data', (data) => resolve({ child, said: String(data).trim() })));
}

const soon = (milliseconds: number) => performance.timeOrigin + performance.now() + milliseconds;
const ended = (child: ChildProcess) => new Promise((resolve) => child.once('exit', resolve));

describe('lockDirectory', () => {
  it('is held by one at a time, in one process too, and released once', () => {
    const lock = lockDirectory('first', folder);
    expect(lockFiles()).toHaveLength(1);
    expect(() => lockDirectory('second', folder)).toThrow(
      /^second: expected the directory .* to itself, got one that this process itself writes to. Wait until/,
    );
    lock.release();
    lock.release();
    expect(lockFiles()).toEqual([]);
    const next = lockDirectory('third', folder);
    lock.release();
    expect(lockFiles()).toHaveLength(1);
    next.release();
  });

  it('of five processes that start at once one holds it; the others name it', { tags: ['slow'] }, async () => {
    for (let round = 0; round < 2; round++) {
      const all = await Promise.all(Array.from({ length: 5 }, () => contender(soon(1_000))));
      const holders = all.filter(({ said }) => said === 'held');
      expect(holders).toHaveLength(1);
      const [{ child }] = holders;
      const refused = all.filter(({ said }) => said !== 'held').map(({ said }) => said);
      for (const said of refused) expect(said).toMatch(/got one that process \d+ on .*, started .* writes to/);
      expect(refused.some((said) => said.includes(`process ${child.pid} `))).toBe(true);
      child.kill('SIGKILL');
      await ended(child);
    }
  });

  it('takes over what a killed process held, and a process that a signal ends gives it back', async () => {
    const { child } = await contender(0);
    expect(() => lockDirectory('train', folder)).toThrow(new RegExp(`process ${child.pid} on`));
    child.kill('SIGKILL');
    await ended(child);
    expect(lockFiles()).toHaveLength(1);
    lockDirectory('train', folder).release();
    expect(lockFiles()).toEqual([]);
    const second = await contender(0);
    second.child.kill('SIGHUP');
    await ended(second.child);
    expect(lockFiles()).toEqual([]);
  });

  it('is not fooled by a process number that was given away again', () => {
    const lock = lockDirectory('train', folder);
    const [name] = lockFiles();
    const claim = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    lock.release();
    const other = (fields: object) =>
      writeFileSync(join(folder, name), JSON.stringify({ ...claim, isHeld: true, ...fields }));
    // The number of this process, but another start: the process that wrote it has ended.
    other({ began: '1' });
    lockDirectory('train', folder).release();
    other({ boot: 'of yesterday' });
    lockDirectory('train', folder).release();
    other({ host: 'elsewhere' });
    expect(() => lockDirectory('train', folder)).toThrow(/on elsewhere, .* if it has ended, remove .*\.lock\./);
    other({});
    expect(() => lockDirectory('train', folder)).toThrow(/this process itself/);
    writeFileSync(join(folder, name), '');
    expect(() => lockDirectory('train', folder)).toThrow(/a damaged lock .*remove that file/);
    expect(lockFiles()).toEqual([name]);
  });

  it('leaves no claim where it is refused, and says why a directory cannot be had', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => lockDirectory('train', join(folder, 'file', 'run'))).toThrow(/got a file where a directory should be/);
    mkdirSync(join(folder, 'a'));
    const lock = lockDirectory('train', join(folder, 'a'));
    expect(() => lockDirectory('train', join(folder, 'a'))).toThrow();
    expect(readdirSync(join(folder, 'a'))).toHaveLength(1);
    lock.release();
  });
});

describe('fileName', () => {
  it('keeps plain names, and makes one part of a path of any other', () => {
    expect(['agent_0', 'a-b', 'v1.2'].map(fileName)).toEqual(['agent_0', 'a-b', 'v1.2']);
    expect(fileName('team:red/1')).toBe('team%3ared%2f1');
    const nasty = [
      '',
      '.',
      '..',
      '../x',
      'a/../b',
      '__proto__',
      'con',
      'CON.txt',
      'a',
      'A',
      'ä',
      'x'.repeat(300),
      `${'x'.repeat(300)}y`,
    ];
    const names = [...nasty, '\0', 'a\nb', 'a b', 'a.', '.a', '\ud800'].map(fileName);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
    for (const name of names) {
      expect(name).toMatch(/^[\w%.-]{1,120}$/);
      writeFileSync(join(folder, name), '');
    }
    expect(readdirSync(folder)).toHaveLength(names.length);
  });
});
