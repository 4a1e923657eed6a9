import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { evaluate } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { loadAgents, loadRun } from '@coplay/trainers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { coplay, files } from './command-line';

// Inside of the repository, where code finds packages.
const cache = resolve(dirname(fileURLToPath(import.meta.url)), '../../../.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'strangers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A configuration that leaves a trace wherever it runs. */
const TRACING = {
  'run.config.ts': `
import { appendFileSync } from 'node:fs';
import { defineConfig } from 'coplay';
import { ppoAgent } from '@coplay/trainers';
import { trace } from './trace';

appendFileSync(new URL('./trace.txt', import.meta.url), trace);
export default defineConfig({
  game: { name: 'stag-hunt', size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 4 },
  agents: ({ game, ids }) => ids.map((id) => ppoAgent({ game, id, executor: 'eager' })),
  envs: 2,
  steps: 4,
  envSteps: 8,
  checkpointEvery: 1,
  log: [],
});
`,
  'trace.ts': "export const trace = 'x';",
  'other.ts':
    "import { appendFileSync } from 'node:fs';\nappendFileSync(new URL('./trace.txt', import.meta.url), 'o');",
};
const place = mkdtempSync(join(folder, 'project-'));
const path = files(place, TRACING);
const run = join(place, 'runs/a');
const [me, stranger] = ['me', 'stranger'].map((user) => join(folder, user));
const list = join(me, 'coplay/own-code');
const traces = (project = place) => readFileSync(join(project, 'trace.txt'), 'utf8');
const checksum = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
const be = (user: string) => vi.stubEnv('XDG_STATE_HOME', user);

/** Commands that load a run, with arguments of their own. */
const LOADING: Readonly<Record<string, readonly string[]>> = {
  evaluate: ['--episodes', '1'],
  record: ['--out', join(folder, 'episode.coplay')],
  export: [join(folder, 'policy.onnx')],
  play: ['--port', '0'],
  resume: ['--steps', '16'],
};

beforeAll(async () => {
  be(me);
  expect(await coplay(['train', path, '--directory', run])).toMatchObject({ code: 0 });
});
beforeEach(() => void be(me));
afterEach(() => void vi.unstubAllEnvs());

describe('code of a run that this user trained', () => {
  it('is in a list outside of the run, which this user alone can read and write', () => {
    const [fingerprint, file] = readFileSync(list, 'utf8').trim().split(/ (.*)/);
    expect(fingerprint).toMatch(/^[\da-f]{64}$/);
    expect(JSON.parse(file)).toBe(path);
    expect(relative(run, list)).toMatch(/^\.\./);
    expect([statSync(list).mode & 0o777, statSync(dirname(list)).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  it('runs without a word', async () => {
    const before = traces();
    expect(await coplay(['evaluate', run, '--episodes', '1'])).toMatchObject({ code: 0 });
    expect(traces()).toBe(`${before}x`);
  });

  it('does not run if the list could have been written by others', async () => {
    chmodSync(list, 0o620);
    try {
      expect(await coplay(['evaluate', run])).toMatchObject({ code: 1, err: expect.stringContaining('--allow-code') });
    } finally {
      chmodSync(list, 0o600);
    }
  });

  it('that could not be listed trains with a warning', async () => {
    be(files(folder, { 'a-file': '' }));
    const other = join(place, 'runs/unlisted');
    const ended = await coplay(['train', path, '--directory', other]);
    expect(ended).toMatchObject({ code: 0, err: expect.stringContaining('will need --allow-code') });
  });
});

describe("a stranger's run", () => {
  beforeEach(() => void be(stranger));

  it.each(Object.keys(LOADING))('%s refuses its code, runs none of it, and says how to allow it', async (name) => {
    const before = traces();
    const ended = await coplay([name, run, ...LOADING[name]!]);
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.err).toBe(
      `${run}: expected a run whose code you trained with on this machine (the same files at the same place), or --allow-code, ` +
        `got ${path}, which is not in your list ${join(stranger, 'coplay/own-code')}. ` +
        'This code can do anything that you can. Read it; if you trust it, add --allow-code (allowCode: true).',
    );
    expect(traces()).toBe(before);
  });

  it.each(['evaluate', 'record', 'export'])('%s runs it with --allow-code, and for that time only', async (name) => {
    const before = traces();
    expect(await coplay([name, run, ...LOADING[name]!, '--allow-code'])).toMatchObject({ code: 0 });
    expect(traces()).toBe(`${before}x`);
    expect(await coplay([name, run, ...LOADING[name]!])).toMatchObject({ code: 1 });
    expect(existsSync(join(stranger, 'coplay/own-code'))).toBe(false);
  });

  it('is served by play and resumed with --allow-code', async () => {
    const ended = new AbortController();
    ended.abort();
    expect(await coplay(['play', run, '--port', '0', '--allow-code'], ended.signal)).toMatchObject({ code: 0 });
    expect(await coplay(['resume', run, '--steps', '16', '--allow-code'])).toMatchObject({ code: 0 });
  });

  it('is reported and inspected without its code', async () => {
    const before = traces();
    expect(await coplay(['report', run, '--out', join(folder, 'report.html')])).toMatchObject({ code: 0 });
    expect(await coplay(['inspect', run, '--config'])).toMatchObject({ code: 0 });
    expect(traces()).toBe(before);
  });
});

/** What a test changes of `coplay.json`. */
interface Kept {
  code: string;
  files: Record<string, string>;
}

describe('a run that was mine and is no more', () => {
  /** A copy of the run, whose `coplay.json` is changed. */
  function tampered(change: (kept: Kept) => Partial<Kept>): string {
    const copy = join(place, `runs/tampered-${traces().length}-${Math.trunc(performance.now())}`);
    cpSync(run, copy, { recursive: true });
    const file = join(copy, 'coplay.json');
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Kept;
    writeFileSync(file, JSON.stringify({ ...kept, ...change(kept) }));
    return copy;
  }

  it('a copy next to it is still mine', async () => {
    expect(await coplay(['evaluate', tampered(() => ({})), '--episodes', '1'])).toMatchObject({ code: 0 });
  });

  it.each<[string, (kept: Kept) => Partial<Kept>]>([
    ['begins with another file', () => ({ code: '../../trace.ts' })],
    [
      'has other code, checksums in its favour',
      () => ({ code: '../../other.ts', files: { '../../other.ts': checksum(join(place, 'other.ts')) } }),
    ],
    [
      'has one more file',
      (kept) => ({ files: { ...kept.files, '../../other.ts': checksum(join(place, 'other.ts')) } }),
    ],
  ])('is refused where it %s', async (_, change) => {
    const before = traces();
    const ended = await coplay(['evaluate', tampered(change), '--episodes', '1']);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('--allow-code') });
    expect(traces()).toBe(before);
  });

  it('is refused where a file has changed, with new checksums', async () => {
    const before = traces();
    const file = join(place, 'trace.ts');
    appendFileSync(file, '// changed');
    try {
      const copy = tampered((kept) => ({ files: { ...kept.files, '../../trace.ts': checksum(file) } }));
      expect(await coplay(['evaluate', copy])).toMatchObject({ code: 1, err: expect.stringContaining('--allow-code') });
    } finally {
      writeFileSync(file, TRACING['trace.ts']);
    }
    expect(traces()).toBe(before);
  });

  it('is refused in a copy of the whole project, where packages may be others', async () => {
    const copy = join(folder, 'copied-project');
    cpSync(place, copy, { recursive: true });
    const before = traces(copy);
    const ended = await coplay(['evaluate', join(copy, 'runs/a')]);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('--allow-code') });
    expect(traces(copy)).toBe(before);
  });
});

describe('loadRun', () => {
  it('makes the agents by code of a run that this user trained', async () => {
    be(me);
    const { game, agents, dispose } = await loadRun(run);
    expect(agents.map(({ name }) => name)).toEqual(['PPO (frozen)', 'PPO (frozen)']);
    expect((await evaluate(game, agents, { episodes: 2 })).episodes).toBe(2);
    dispose();
    const [moved] = await loadAgents(run, { seats: { agent_1: 'agent_0' } });
    expect(moved.id).toBe('agent_1');
  });

  it("runs a stranger's code only where it is allowed", async () => {
    be(stranger);
    const before = traces();
    await expect(loadRun(run)).rejects.toThrow('add --allow-code (allowCode: true)');
    expect(traces()).toBe(before);
    (await loadRun(run, { allowCode: true })).dispose();
    expect(traces()).toBe(`${before}x`);
  });

  it('runs no code where the game or the agents are given by name', async () => {
    be(stranger);
    const before = traces();
    const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 4 });
    (await loadRun(run, { game })).dispose();
    expect(traces()).toBe(before);
  });
});
