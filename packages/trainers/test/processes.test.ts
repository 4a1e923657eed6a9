import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

/** What a script of `fixtures` prints, in a process of its own with the default number of threads. */
async function printed(script: string, ...given: string[]): Promise<string> {
  const { COPLAY_THREADS: _, ...env } = process.env;
  const path = join(import.meta.dirname, 'fixtures', script);
  const { stdout } = await run(process.execPath, ['--conditions=@coplay/source', '--import', 'tsx', path, ...given], {
    env,
  });
  return stdout.trim().split('\n').at(-1)!;
}

/** Uses a processor for as long as this process is there. */
const BUSY = 'const { ppid } = process; while (process.ppid === ppid);';

/** Does something while other processes use all processors. */
async function underLoad<T>(work: () => Promise<T>): Promise<T> {
  const busy: ChildProcess[] = Array.from({ length: 3 }, () => spawn(process.execPath, ['-e', BUSY]));
  try {
    return await work();
  } finally {
    for (const one of busy) one.kill('SIGKILL');
  }
}

/** Milliseconds: a child takes seconds on an idle machine, and these share theirs with others. */
const LONG = 600_000;

describe('two processes with the same seed', { tags: ['learning'] }, () => {
  it(
    'log and learn the same bits, busy machine or not: HOP+',
    async () => {
      const alone = await printed('run-trainer.ts', 'hop-plus', '2');
      const { log } = JSON.parse(alone) as { log: Record<string, number>[] };
      expect(log[1]).toMatchObject({ 'imagined/is_open': 1 }); // all of its models take part
      expect(await underLoad(() => printed('run-trainer.ts', 'hop-plus', '2'))).toBe(alone);
    },
    LONG,
  );
});

describe.skipIf(!existsSync('/proc/self/task'))(
  'what is left after dispose() (counted on Linux)',
  { tags: ['learning'] },
  () => {
    it(
      'as many descriptors and threads as before, of every trainer',
      async () => {
        const results = JSON.parse(await printed('dispose-trainers.ts')) as Record<string, Record<string, number[]>>;
        expect(Object.keys(results)).toContain('hop');
        for (const [name, { before, after }] of Object.entries(results)) {
          expect([name, ...after]).toEqual([name, ...before]);
        }
      },
      LONG,
    );
  },
);
