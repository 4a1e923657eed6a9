import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { csv, jsonLines, readLog, tensorboard } from '@coplay/diagnostics';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bundleProgram, placeOfPrograms } from '../../../test/programs';
import { readEventFiles } from './event-files';
import { temporaryDirectory } from './helpers';
import { readStrictCsv } from './strict-csv';

const source = fileURLToPath(new URL('endless-writer.ts', import.meta.url));
const command = [process.execPath, join(placeOfPrograms(), 'endless-writer.mjs')];
beforeAll(async () => void (await bundleProgram(command[1], { entryPoints: [source] })));

const quiet = { warn: () => {} };

async function startWriter(directory: string): Promise<ChildProcess> {
  const child = spawn(command[0], [...command.slice(1), directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout!, 'data');
  return child;
}

async function killAfter(child: ChildProcess, milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('kill -9 while logs are written', () => {
  it('loses no whole row, and a run that goes on is read in full by all readers', async () => {
    for (const milliseconds of [2, 40]) {
      const directory = temporaryDirectory();
      await killAfter(await startWriter(directory), milliseconds);

      const before = readLog(join(directory, 'log.jsonl'), quiet);
      expect(before.map(({ update }) => update)).toEqual(before.map((_, i) => i + 1));
      const startedAt = Math.floor(before.length / 2);

      for (const log of [jsonLines(directory, quiet), csv(directory, quiet), tensorboard(directory)]) {
        log.start({ name: 'endless', config: {}, envSteps: 1e9, startedAt });
        log.write({ envSteps: startedAt + 1, update: startedAt + 1, metrics: { again: 1 } });
        log.close();
      }

      const count = startedAt > 0 ? startedAt + 1 : 1;
      const expected = Array.from({ length: count }, (_, i) => i + 1);
      expect(readLog(join(directory, 'log.jsonl')).map(({ update }) => update)).toEqual(expected);
      const rows = readStrictCsv(readFileSync(join(directory, 'log.csv'), 'utf8'));
      expect(rows.map(({ update }) => Number(update))).toEqual(expected);
      expect(rows.at(-1)!['again']).toBe('1');

      const [first, second] = readEventFiles(directory);
      // Files are written one after the other, so the kill may have come between them.
      const steps = [...new Set(first!.scalars.map(({ step }) => step))];
      expect(Math.abs(steps.length - before.length)).toBeLessThanOrEqual(1);
      expect(second!.scalars.map(({ step, tag }) => [step, tag])).toEqual([[startedAt + 1, 'again']]);
    }
  });
});

describe.skipIf(process.platform === 'win32')('a disk that is full', () => {
  it('stops with a clear error, and all files hold whole rows', () => {
    const directory = temporaryDirectory();
    // No file may grow past 16 blocks of 512 bytes; the write that does so is cut short and then fails.
    const { stderr, status } = spawnSync('sh', ['-c', 'ulimit -f 16; exec "$@"', 'sh', ...command, directory], {
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/log: expected to append \d+ bytes to .*log\.jsonl, got EFBIG.*Free the disk/);
    const warnings: string[] = [];
    const entries = readLog(join(directory, 'log.jsonl'), { warn: (word) => warnings.push(word) });
    expect(warnings).toEqual([]);
    expect(entries.length).toBeGreaterThan(51);
    expect(readStrictCsv(readFileSync(join(directory, 'log.csv'), 'utf8'))).toHaveLength(entries.length);
    expect(readEventFiles(directory)[0].torn).toBe(0);
  });
});
