import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runSweep } from 'coplay';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { coplay, files, written } from './command-line';

// Inside of the repository, where code finds packages.
const cache = resolve(fileURLToPath(import.meta.url), '../../../../.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'sweep-'));
// The list of one's own code, which a sweep of code is noted in.
vi.stubEnv('XDG_STATE_HOME', join(folder, 'state'));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const CONFIGURATION = {
  game: { name: 'matrix', kind: 'stag-hunt', maxSteps: 4 },
  agents: { kind: 'ppo', network: { kind: 'mlp', hidden: [8] }, executor: 'eager' },
  envs: 4,
  steps: 8,
  envSteps: 96,
  checkpointEvery: 1,
};
const SWEEP = { configuration: CONFIGURATION, axes: { 'agents.ppo.gamma': [0.5, 0.9] }, seeds: 2, episodes: 20 };
const NAMES = ['000-seed-1', '000-seed-2', '001-seed-1', '001-seed-2'];

const json = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));
/** What a run logged, without the times. */
const logOf = (...path: string[]) =>
  readFileSync(join(...path, 'log.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.stringify(JSON.parse(line), (key, value) => (/^time\//.test(key) ? undefined : value)));

/** Runs of a sweep one by one, in this process. */
async function byIndex(sweep: string, directory: string, indices: readonly number[]) {
  const ended = [];
  for (const index of indices) {
    ended.push(await coplay(['sweep', sweep, '--directory', directory, '--index', String(index), '--json']));
  }
  return ended;
}

describe('coplay sweep --index', () => {
  const sweep = written(folder, SWEEP);
  const directory = join(folder, 'indexed');

  it('does one run of the plan, the same as coplay train with its settings', async () => {
    const [first, last] = await byIndex(sweep, directory, [0, 3]);
    expect([first.code, last.code]).toEqual([0, 0]);
    expect(JSON.parse(last.out)).toMatchObject({ name: NAMES[3], settings: { 'agents.ppo.gamma': 0.9 }, seed: 2 });
    const configuration = { ...CONFIGURATION, agents: { ...CONFIGURATION.agents, ppo: { gamma: 0.9 } }, log: [] };
    const trained = join(folder, 'trained');
    await coplay(['train', written(folder, configuration), '--directory', trained, '--seed', '2']);
    expect(logOf(directory, NAMES[3])).toEqual(logOf(trained));
    expect(logOf(directory, NAMES[3])).not.toEqual(logOf(directory, NAMES[0]));
    expect(json(directory, NAMES[3], 'result.json')).toMatchObject({
      envSteps: 96,
      mean: JSON.parse(last.out).end.mean,
    });
    // Other commands take a run of a sweep like any other.
    expect(await coplay(['evaluate', join(directory, NAMES[3]), '--episodes', '5'])).toMatchObject({ code: 0 });
  });

  it('keeps a result that is there', async () => {
    const before = readFileSync(join(directory, NAMES[0], 'result.json'), 'utf8');
    const [again] = await byIndex(sweep, directory, [0]);
    expect([again.code, readFileSync(join(directory, NAMES[0], 'result.json'), 'utf8')]).toEqual([0, before]);
  });

  it('refuses a damaged result or plan, and says what happens without it', async () => {
    const file = join(directory, NAMES[0], 'result.json');
    const before = readFileSync(file, 'utf8');
    const without = 'Remove it: then --resume goes on from the last checkpoint of this run.';
    for (const [text, named] of [
      [before.slice(0, -20), file],
      [before.replace('"mean"', '"median"'), `${file}: mean`],
    ]) {
      writeFileSync(file, text);
      const [{ code, err }] = await byIndex(sweep, directory, [0]);
      expect([code, err]).toEqual([1, expect.stringContaining(without)]);
      expect(err).toContain(named);
    }
    rmSync(file);
    expect((await byIndex(sweep, directory, [0]))[0].code).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8')).mean).toBe(JSON.parse(before).mean);
    const plan = join(directory, 'plan.json');
    const planned = readFileSync(plan, 'utf8');
    writeFileSync(plan, planned.slice(0, -20));
    const [{ code, err }] = await byIndex(sweep, directory, [0]);
    expect([code, err]).toEqual([1, expect.stringContaining('Remove it: then --resume writes it again')]);
    rmSync(plan);
    expect((await byIndex(sweep, directory, [0]))[0].code).toBe(0);
    expect(readFileSync(plan, 'utf8')).toBe(planned);
  });

  it('goes on from a checkpoint after an interrupt, to the same bits', async () => {
    const place = join(folder, 'interrupted');
    const stop = new AbortController();
    stop.abort(); // before the first update
    const stopped = await coplay(['sweep', sweep, '--directory', place, '--index', '0'], stop.signal);
    expect([stopped.code, stopped.err]).toEqual([130, expect.stringContaining('stopped, with a checkpoint')]);
    expect(existsSync(join(place, NAMES[0], 'result.json'))).toBe(false);
    const [ended] = await byIndex(sweep, place, [0]);
    expect(ended.code).toBe(0);
    expect(logOf(place, NAMES[0])).toEqual(logOf(directory, NAMES[0]));
  });

  it('stops in the evaluation too, with the checkpoint of the whole training', async () => {
    const place = join(folder, 'not-evaluated');
    // Minutes of episodes: without the signal the test would not end in time.
    const long = written(folder, { ...SWEEP, episodes: 1e7 });
    const stop = new AbortController();
    const begun = coplay(['sweep', long, '--directory', place, '--index', '0'], stop.signal);
    const checkpoint = join(place, NAMES[0], 'checkpoints', 'step-000000000096', 'manifest.json');
    await vi.waitFor(() => expect(existsSync(checkpoint)).toBe(true), 60_000);
    setTimeout(() => stop.abort(), 200);
    expect(await begun).toMatchObject({ code: 130, err: expect.stringContaining('stopped, with a checkpoint') });
    expect(existsSync(join(place, NAMES[0], 'result.json'))).toBe(false);
    expect(logOf(place, NAMES[0])).toEqual(logOf(directory, NAMES[0]));
  });

  it('ends a run that is out of patience', async () => {
    const patient = { ...CONFIGURATION, evaluateEvery: 1, evaluateEpisodes: 2, patience: 1, envSteps: 32_000 };
    const place = join(folder, 'patience');
    const [ended] = await byIndex(written(folder, { ...SWEEP, configuration: patient }), place, [0]);
    expect(ended.code).toBe(0);
    expect(json(place, NAMES[0], 'result.json').envSteps).toBeLessThan(32_000);
  });

  it('refuses an index out of range, and an edited file', async () => {
    const [out] = await byIndex(sweep, directory, [4]);
    expect(out).toMatchObject({ code: 1, err: expect.stringContaining('expected an index from 0 to 3, got 4') });
    const edited = written(folder, { ...SWEEP, episodes: 21 });
    const [other] = await byIndex(edited, directory, [1]);
    expect(other).toMatchObject({
      code: 1,
      err: expect.stringMatching(/was begun with, got a file with another content/),
    });
    expect(existsSync(join(directory, NAMES[1]))).toBe(false);
  });
});

describe('a sweep with a mistake', () => {
  it.each([
    ['an axis that no option has', { ...SWEEP, axes: { 'agents.ppo.gama': [1] } }, /unknown option "gama"/],
    ['a value that an option refuses', { ...SWEEP, axes: { 'agents.ppo.gamma': [0.9, 7] } }, /settings .*7.*gamma/],
    [
      'an axis through a number',
      { ...SWEEP, axes: { 'envs.few': [1] } },
      /a record at envs, where envs.few leads, got 4/,
    ],
    ['an axis that the configuration does not have', { ...SWEEP, axes: { agentz: [1] } }, /unknown option "agentz"/],
    ['no axes', { ...SWEEP, axes: {} }, /at least one axis/],
    ['halving from the last step on', { ...SWEEP, halving: { first: 96 } }, /halving: .*above first \(96\), got 96/],
    [
      'a rung within an update',
      { ...SWEEP, halving: { first: 40 } },
      /halving.first: expected a multiple of 32, .*got 40\. .*Give 64/,
    ],
    [
      'halving of runs of several lengths',
      { ...SWEEP, axes: { envSteps: [64, 96] }, halving: { first: 32 } },
      /halving: expected the same envSteps in all settings, .*got 64, 96/,
    ],
  ])('%s is refused before anything runs', async (_, sweep, message) => {
    const directory = join(folder, 'refused');
    const ended = await coplay(['sweep', written(folder, sweep), '--directory', directory]);
    expect([ended.code, ended.err]).toEqual([1, expect.stringMatching(message)]);
    expect(existsSync(directory)).toBe(false);
  });

  it('a name that comes twice in the file is refused', async () => {
    const path = join(folder, 'twice.json');
    writeFileSync(path, '{"configuration": {}, "axes": {"envs": [1], "envs": [2]}}');
    const ended = await coplay(['sweep', path, '--directory', join(folder, 'refused')]);
    expect([ended.code, ended.err]).toEqual([1, expect.stringContaining('each name once, got "envs" twice')]);
  });

  it('an index out of range, several ways at once and a directory that is no directory are refused', async () => {
    const sweep = written(folder, SWEEP);
    const directory = join(folder, 'refused');
    const out = await coplay(['sweep', sweep, '--directory', directory, '--index', '4']);
    expect([out.code, out.err]).toEqual([1, expect.stringContaining('an index from 0 to 3, got 4')]);
    const two = await coplay(['sweep', sweep, '--directory', directory, '--index', '1', '--slurm']);
    expect([two.code, two.err]).toEqual([2, expect.stringContaining('One of these at a time: --slurm, --index.')]);
    expect(existsSync(directory)).toBe(false);
    const file = await coplay(['sweep', sweep, '--directory', join(sweep, 'a')]);
    expect([file.code, file.err]).toEqual([1, expect.stringMatching(/coplay sweep: .*a file where a directory/)]);
  });

  it('without SLURM --slurm says so', async () => {
    const path = process.env['PATH'];
    vi.stubEnv('PATH', folder);
    const none = await coplay(['sweep', written(folder, SWEEP), '--directory', join(folder, 'refused'), '--slurm']);
    vi.stubEnv('PATH', path);
    expect([none.code, none.err]).toEqual([
      1,
      expect.stringContaining('expected the command sbatch of SLURM, got none'),
    ]);
  });

  it('runSweep refuses options by name', async () => {
    await expect(runSweep({ file: 'a.json', jobs: 0 })).rejects.toThrow(/option jobs/);
    await expect(runSweep({ file: 'a.json', job: 1 } as never)).rejects.toThrow(/unknown option "job"/);
  });
});

describe('a sweep on all cores', { tags: ['learning'] }, () => {
  /** A game that dies in a number of ways in its first step, by its settings. */
  const code = files(mkdtempSync(join(folder, 'code-')), {
    'sweep.ts': `
      import { matrixGame } from '@coplay/envs';
      import { defineSweep } from 'coplay';
      const game = matrixGame({ kind: 'stag-hunt', maxSteps: 4 });
      export default defineSweep({
        configuration: ({ fault }) => ({
          ...${JSON.stringify(CONFIGURATION)},
          game: {
            ...game,
            step(...given) {
              if (fault === 'throws') throw new Error('the game threw');
              if (fault === 'dies') process.kill(process.pid, 'SIGKILL');
              return game.step(...given);
            },
          },
        }),
        list: [{ fault: 'none' }, { fault: 'throws' }, { fault: 'dies' }, { fault: 'never' }],
        episodes: 20,
      });`,
  });

  it('does its runs in processes; one that fails or dies does not stop the others', async () => {
    const directory = join(folder, 'code');
    const ended = await coplay(['sweep', code, '--directory', directory, '--jobs', '2', '--json']);
    expect([ended.code, ended.err]).toEqual([1, expect.stringContaining('2 of 4 runs done, 2 failed')]);
    const { runs, best } = JSON.parse(ended.out);
    expect(runs.map(({ state }: { state: string }) => state)).toEqual(['done', 'failed', 'failed', 'done']);
    expect([runs[1].error, runs[2].error]).toEqual([
      expect.stringContaining('the game threw'),
      expect.stringContaining('its process ended with SIGKILL'),
    ]);
    expect(runs[0].result.mean).toBe(runs[3].result.mean); // same rules, same seed
    expect(best.map(({ setting }: { setting: number }) => setting)).toEqual([0, 3]);
    expect(json(directory, 'index.json')).toMatchObject({ runs, best });
    expect(readFileSync(join(directory, 'report.html'), 'utf8')).toContain('<html');
    expect(readFileSync(join(directory, 'settings.svg'), 'utf8')).toContain('<svg');
  });

  it('gives the bits of single runs, from where a stop left them', async () => {
    const sweep = written(folder, SWEEP);
    const directory = join(folder, 'whole');
    const stop = new AbortController();
    const onEnd = () => stop.abort(); // after the first run
    const first = await runSweep({ file: sweep, directory, jobs: 1, signal: stop.signal, watcher: { onEnd } });
    expect(first.runs.filter(({ state }) => state === 'done')).toHaveLength(1);
    await expect(runSweep({ file: sweep, directory })).rejects.toThrow(/a directory without a sweep/);
    const { runs, best } = await runSweep({ file: sweep, directory, jobs: 2, resume: true });
    expect(runs.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done']);
    // In a process of their own too: it has the backend that this one may have been told to leave.
    await runSweep({ file: sweep, directory: join(folder, 'single'), jobs: 1 });
    for (const name of NAMES) expect(logOf(directory, name)).toEqual(logOf(folder, 'single', name));
    const mean = (setting: number) => (runs[2 * setting].result!.mean + runs[2 * setting + 1].result!.mean) / 2;
    const page = readFileSync(join(directory, 'report.html'), 'utf8');
    expect([page.match(/>000: gamma 0\.5</g)?.length, page.match(/>001: gamma 0\.9</g)?.length]).toEqual([2, 2]);
    expect(best[0].mean.value).toBeCloseTo(Math.max(mean(0), mean(1)), 12);
  });

  it('halves: runs go on from their checkpoints, to the bits of whole runs, also after a stop', async () => {
    // A learning rate that falls to 0 at the end of a whole run.
    const learningRate = (from: number) => ({ from, to: 0, by: 1 });
    const list = [1e-4, 3e-4, 1e-3, 3e-3].map((from) => ({ 'agents.ppo.learningRate': learningRate(from) }));
    const whole = { configuration: { ...CONFIGURATION, envSteps: 128 }, list, episodes: 20 };
    const plain = join(folder, 'plain');
    const directory = join(folder, 'halved');
    await runSweep({ file: written(folder, whole), directory: plain, jobs: 1 });
    const file = written(folder, { ...whole, halving: { first: 32, eta: 2 } });
    const stop = new AbortController();
    let ends = 0;
    const onEnd = () => void (++ends === 3 && stop.abort());
    await runSweep({ file, directory, jobs: 1, signal: stop.signal, watcher: { onEnd } });
    const { runs, best } = await runSweep({ file, directory, jobs: 1, resume: true });
    expect(runs.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done']);
    // Four settings to 32 steps, at least floor(4 / 2) of them to 64, at least one of these to 128.
    const steps = runs.map(({ result }) => result!.envSteps);
    expect(steps.filter((own) => own >= 64).length).toBeGreaterThanOrEqual(2);
    expect(best[0].envSteps).toBe(128);
    expect(steps).toContain(32);
    for (const { name, result } of runs) {
      expect(logOf(directory, name)).toEqual(logOf(plain, name).slice(0, result!.envSteps / 32));
    }
    expect(json(directory, runs[best[0].setting].name, 'result.json')).toMatchObject({
      mean: json(plain, runs[best[0].setting].name, 'result.json').mean,
    });
    const one = await coplay(['sweep', file, '--directory', directory, '--index', '0']);
    expect([one.code, one.err]).toEqual([1, expect.stringContaining('expected a sweep without halving')]);
  });
});
