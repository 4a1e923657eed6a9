import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { bundleProgram } from '../../../test/programs';
import { coplay, written } from './command-line';

const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
mkdirSync(join(repository, '.cache'), { recursive: true });
const folder = mkdtempSync(join(repository, '.cache', 'disk-full-'));
const disk = join(folder, 'disk');
mkdirSync(disk);
const mount = (...args: string[]) => spawnSync('mount', args).status === 0;
/** Only root can mount a small disk. */
const canMount = mount('-t', 'tmpfs', '-o', 'size=4k', 'none', disk);
afterAll(() => {
  if (canMount) spawnSync('umount', [disk]);
  rmSync(folder, { recursive: true, force: true });
});

const PLAIN = {
  game: { name: 'matrix', kind: 'stag-hunt', maxSteps: 4 },
  agents: { kind: 'random' },
  ...{ envs: 2, steps: 4, envSteps: 80, checkpointEvery: 1 },
};
/** One line, no stack trace. */
const DISK_FULL = /^[^\n]*expected to write [^\n]*got disk full[^\n]*$/;

describe.skipIf(!canMount)('a full disk', () => {
  // Kilobytes: it's full at the lock, the configuration, the versions, the log, the first and a later checkpoint.
  it.each([4, 8, 12, 20, 28, 40])('of %i kB ends coplay train with one line, and then it can go on', async (size) => {
    mount('-o', `remount,size=${size}k`, disk);
    const run = join(disk, `run-${size}`);
    const path = written(folder, PLAIN);
    const ended = await coplay(['train', path, '--directory', run]);
    expect(ended.code).toBe(1);
    expect(ended.err.split('\n').at(-1)).toMatch(DISK_FULL);
    const files = existsSync(run) ? readdirSync(run) : [];
    expect(files.filter((name) => statSync(join(run, name)).size === 0 && name.endsWith('.json'))).toEqual([]);

    mount('-o', 'remount,size=10m', disk);
    const again = files.includes('coplay.json') ? ['resume', run] : ['train', path, '--directory', run];
    expect(await coplay(again)).toMatchObject({ code: 0 });
    rmSync(run, { recursive: true });
  });
});

describe.skipIf(!existsSync('/dev/full'))('a result that cannot be written', () => {
  it('is no success', { tags: ['slow'] }, async () => {
    const entryPoints = [join(repository, 'packages/coplay/src/bin.ts')];
    const bin = await bundleProgram(join(folder, 'bin.mjs'), { entryPoints });
    const shell = `${[process.execPath, bin, '--help'].map((word) => `'${word}'`).join(' ')} > /dev/full`;
    const { status, stderr } = spawnSync('sh', ['-c', shell], { cwd: repository, encoding: 'utf8' });
    expect(stderr.trim()).toMatch(/^coplay: expected to write the result to the standard output, got disk full[^\n]*$/);
    expect(status).toBe(1);
  });
});
