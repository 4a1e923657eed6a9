import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGenerator } from '@coplay/core';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { latestCheckpoint } from './load';
import { saveCheckpoint } from './save';

const KILLS = 30;
// Of 64 kB, so that a good part of the time goes into writing.
const ELEMENTS = 16_384;

/** Goes on from the newest checkpoint and saves without end; every step twice. Prints each mark once it's saved. */
const CHILD = `
  import { writeSync } from 'node:fs';
  import { latestCheckpoint } from './load';
  import { saveCheckpoint } from './save';
  const directory = process.argv[2];
  const { checkpoint } = await latestCheckpoint(directory);
  for (let mark = (checkpoint?.saved.mark ?? 0) + 1; ; mark++) {
    await saveCheckpoint(directory, mark >> 1, { mark, w: new Float32Array(${ELEMENTS}).fill(mark) }, { keep: 2 });
    writeSync(1, mark + '\\n');
  }
`;

let directory: string;
let child: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'coplay-kill-'));
  child = join(directory, 'child.mjs');
  await build({
    stdin: { contents: CHILD, resolveDir: import.meta.dirname, loader: 'ts' },
    outfile: child,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@coplay/source'],
    logLevel: 'error',
  });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs the child until `delay` milliseconds after its first save, kills it, and returns the last mark it printed. */
async function killedChild(checkpoints: string, delay: number): Promise<number> {
  const running = spawn(process.execPath, [child, checkpoints], { stdio: ['ignore', 'pipe', 'inherit'] });
  let last = 0;
  const lines = createInterface({ input: running.stdout });
  lines.on('line', (line) => {
    if (last === 0) setTimeout(() => running.kill('SIGKILL'), delay);
    last = Number(line);
  });
  await new Promise((resolve) => lines.on('close', resolve));
  return last;
}

test(`kill -9 at ${KILLS} random moments loses nothing that was saved`, { tags: ['slow'] }, async () => {
  const checkpoints = join(directory, 'checkpoints');
  const generator = createGenerator(1);
  let interrupted = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const printed = await killedChild(checkpoints, 20 * generator.uniform());
    const { checkpoint, skipped } = await latestCheckpoint(checkpoints);
    const mark = checkpoint?.saved['mark'] as number;
    // The save after the last printed one may have been finished too.
    expect([printed, printed + 1]).toContain(mark);
    const w = checkpoint?.saved['w'] as Float32Array;
    expect(w).toHaveLength(ELEMENTS);
    expect(w.every((value) => value === mark)).toBe(true);
    expect(checkpoint?.step).toBe(mark >> 1);
    expect(skipped).toEqual([]);
    if (readdirSync(checkpoints).some((name) => name.includes('.'))) interrupted++;
  }
  expect(interrupted).toBeGreaterThan(KILLS / 4); // else the kills would not have hit a save
  await saveCheckpoint(checkpoints, 10 ** 6, { mark: 0 }, { keep: 2 });
  expect(readdirSync(checkpoints)).toHaveLength(2);
});
