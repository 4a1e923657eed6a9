import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coplay, written } from './command-line';
import { freePort, killServer, signalGroup, startRedis } from './servers';

const folder = mkdtempSync(join(tmpdir(), 'coplay-redis-'));
const PASSWORD = 'a-secret';
// It waits for locks of killed workers, a minute or more: only where it is asked for.
const IS_ASKED = process.env['COPLAY_TEST_REDIS'] === '1';
const HAS_REDIS = IS_ASKED && spawnSync('redis-server', ['--version']).status === 0;
const REASON = IS_ASKED
  ? 'redis-server is not installed (Debian: apt-get install redis-server)'
  : 'set COPLAY_TEST_REDIS=1';
const SWEEP = {
  configuration: {
    game: { name: 'matrix', kind: 'stag-hunt', maxSteps: 4 },
    agents: { kind: 'ppo', network: { kind: 'mlp', hidden: [8] }, executor: 'eager' },
    envs: 4,
    steps: 8,
    envSteps: 960,
    checkpointEvery: 5,
  },
  axes: { 'agents.ppo.gamma': [0.5, 0.9] },
  seeds: 2,
  episodes: 20,
};
const NAMES = ['000-seed-1', '000-seed-2', '001-seed-1', '001-seed-2'];
const BIN = resolve(fileURLToPath(import.meta.url), '../../src/bin.ts');

/** A worker in a process of its own, in a group that can be killed with all of its children. */
function startWorker(url: string): ChildProcess {
  const flags = ['--conditions=@coplay/source', '--import', 'tsx', BIN, 'worker', '--redis', url, '--jobs', '1'];
  return spawn(process.execPath, flags, { stdio: 'ignore', detached: true });
}

const results = (directory: string) =>
  NAMES.map((name) => {
    const { seconds: _, ...result } = JSON.parse(readFileSync(join(directory, name, 'result.json'), 'utf8'));
    return result;
  });

describe(HAS_REDIS ? 'a sweep through Redis' : `a sweep through Redis: skipped, ${REASON}`, {
  tags: ['learning'],
}, () => {
  let server: ChildProcess;
  let url = '';
  let port = 0;
  const workers: ChildProcess[] = [];
  const start = async () => {
    server = await startRedis(join(folder, 'redis'), port, PASSWORD);
  };
  beforeAll(async () => {
    if (!HAS_REDIS) return;
    port = await freePort();
    url = `redis://:${PASSWORD}@127.0.0.1:${port}`;
    await start();
  });
  afterAll(() => {
    for (const worker of workers) signalGroup(worker, 'SIGKILL');
    server?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  it.runIf(HAS_REDIS)('refuses a wrong password and a server that is not there, without the password', async () => {
    const sweep = written(folder, SWEEP);
    const directory = join(folder, 'refused');
    const wrong = await coplay(['sweep', sweep, '--directory', directory, '--redis', url.replace(PASSWORD, 'other')]);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringMatching(/a Redis server that answers, got .*WRONGPASS/)]);
    const away = await coplay(['worker', '--redis', `redis://:${PASSWORD}@127.0.0.1:1`]);
    expect([away.code, away.err]).toEqual([1, expect.stringContaining('127.0.0.1:1')]);
    for (const { err } of [wrong, away]) expect(err).not.toMatch(/other@|a-secret/);
    const none = await coplay(['worker', '--redis', 'env:COPLAY_TEST_NO_SUCH_VARIABLE']);
    expect([none.code, none.err]).toEqual([
      1,
      expect.stringContaining('variable COPLAY_TEST_NO_SUCH_VARIABLE, got none'),
    ]);
    expect(existsSync(directory)).toBe(false);
  });

  it.runIf(HAS_REDIS)(
    'ends every run once with the same results, though a worker and the server are killed',
    async () => {
      const sweep = written(folder, SWEEP);
      const [single, shared] = [join(folder, 'single'), join(folder, 'shared')];
      await coplay(['sweep', sweep, '--directory', single, '--jobs', '1']);
      workers.push(startWorker(url), startWorker(url));
      const ended = coplay(['sweep', sweep, '--directory', shared, '--redis', url]);
      // A worker dies with its run's process when its first run has a checkpoint.
      const begun = () => NAMES.filter((name) => existsSync(join(shared, name, 'checkpoints')));
      while (begun().length === 0) await sleep(50);
      signalGroup(workers[0], 'SIGKILL');
      await killServer(server);
      await start();
      workers.push(startWorker(url));
      const { code, err } = await ended;
      expect([code, err]).toEqual([0, expect.stringContaining('4 of 4 runs done, 0 failed, 0 to do.')]);
      expect(results(shared)).toEqual(results(single));
    },
    // A job of a dead worker is given to another one after half a minute or more.
    400_000,
  );

  it.runIf(HAS_REDIS)('a run that fails is shown with its error', async () => {
    const file = join(folder, 'failing.json');
    // A file in the place of the second run's folder.
    const directory = join(folder, 'failing');
    mkdirSync(directory);
    writeFileSync(
      file,
      JSON.stringify({ ...SWEEP, configuration: { ...SWEEP.configuration, envSteps: 32 }, seeds: 1 }),
    );
    mkdirSync(join(directory, NAMES[0]));
    writeFileSync(join(directory, NAMES[0], 'checkpoints'), 'in the way');
    if (workers.length === 0) workers.push(startWorker(url));
    const { code, err } = await coplay(['sweep', file, '--directory', directory, '--redis', url]);
    expect([code, err]).toEqual([1, expect.stringMatching(/000-seed-1 {2}failed: .*checkpoints/)]);
    expect(err).toContain('1 of 2 runs done, 1 failed');
  });
});
