import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { loadReplay, saveReplay } from '@coplay/buffers';
import { createGenerator, type NamedArrays } from '@coplay/core';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';

const KILLS = 25;
const RING = 40;
const WIDTH = 64;

/**
 * Goes on from what was saved and saves without end, with each mark three more steps of both streams, and all states
 * renewed. Prints each mark once it's saved.
 */
const CHILD = `
  import { writeSync } from 'node:fs';
  import { createSequenceReplay, loadReplay, saveReplay } from '@coplay/buffers';
  import { ndarray } from '@coplay/core';
  const [RING, WIDTH] = [${RING}, ${WIDTH}];
  const [, , directory, isNew] = process.argv;
  const replay = createSequenceReplay({ length: 2, streams: 2, capacity: 2 * RING, online: false });
  if (!isNew) replay.restore(await loadReplay(directory));
  for (let mark = replay.state().buffer.pushed[0] / 3 + 1; ; mark++) {
    for (const stream of [0, 1]) {
      const id = Float64Array.from({ length: 3 }, (_, i) => 1e6 * stream + 3 * (mark - 1) + i);
      replay.push({ id: ndarray(id), state: ndarray(new Float64Array(3 * WIDTH), [3, WIDTH]) }, stream);
    }
    const streams = Int32Array.of(0, 1);
    const steps = new Float64Array(2).fill(3 * mark - RING);
    replay.overwrite({ streams, steps }, { state: ndarray(new Float64Array(2 * RING * WIDTH).fill(mark), [2, RING, WIDTH]) });
    await saveReplay(directory, replay.state(), { chunk: 8 });
    writeSync(1, mark + '\\n');
  }
`;

let root: string;
let child: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'coplay-replay-kill-'));
  child = join(root, 'child.mjs');
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
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Runs the child until `delay` milliseconds after its first save, kills it, and returns the last mark it printed. */
async function killedChild(directory: string, isNew: boolean, delay: number): Promise<number> {
  const args = [child, directory, ...(isNew ? ['new'] : [])];
  const running = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let last = 0;
  const lines = createInterface({ input: running.stdout });
  lines.on('line', (line) => {
    if (last === 0) setTimeout(() => running.kill('SIGKILL'), delay);
    last = Number(line);
  });
  await new Promise((resolve) => lines.on('close', resolve));
  return last;
}

/** Whether the directory holds more than its index names. */
function hasLeftovers(directory: string): boolean {
  const { chunks } = JSON.parse(readFileSync(join(directory, 'replay.json'), 'utf8')) as {
    chunks: { files: unknown[] }[];
  };
  return readdirSync(directory).length > 1 + chunks.flatMap(({ files }) => files).length;
}

test(`kill -9 at ${KILLS} random moments leaves the one state or the other`, { tags: ['slow'] }, async () => {
  const directory = join(root, 'replay');
  const generator = createGenerator(1);
  let interrupted = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const printed = await killedChild(directory, kill === 0, 60 * generator.uniform());
    const { buffer } = (await loadReplay(directory)) as unknown as {
      buffer: { pushed: Float64Array; rows: NamedArrays };
    };
    const mark = buffer.pushed[0] / 3;
    // The save after the last printed one may have been finished too.
    expect([printed, printed + 1]).toContain(mark);
    expect(buffer.pushed[1]).toBe(3 * mark);
    const held = Math.min(RING, 3 * mark);
    const ids = [0, 1].flatMap((stream) => Array.from({ length: held }, (_, i) => 1e6 * stream + 3 * mark - held + i));
    expect([...buffer.rows['id'].data]).toEqual(ids);
    expect(buffer.rows['state'].data.every((value) => value === mark)).toBe(true);
    if (hasLeftovers(directory)) interrupted++;
  }
  expect(interrupted).toBeGreaterThan(KILLS / 4); // else the kills would not have hit a save
  await saveReplay(directory, await loadReplay(directory), { chunk: 8 });
  expect(hasLeftovers(directory)).toBe(false);
});
