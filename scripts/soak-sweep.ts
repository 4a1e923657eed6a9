/**
 * A sweep through a real Redis server in which workers are killed, stopped past their locks and given one run twice,
 * and the server is killed and started again, at seeded moments. Every run must end once, with the bits of a sweep that
 * nothing disturbed. Linux only; needs redis-server.
 *
 *   npm run soak -- sweep             200 runs, 100 faults: an hour or more
 *   npm run soak -- sweep --quick     12 runs, 10 faults: a few minutes
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGenerator } from '@coplay/core';
import { writeWholeSync } from '@coplay/core/node';
import { Queue } from 'bullmq';
import { freePort, killServer, signalGroup, startRedis } from '../packages/coplay/test/servers';
import { root } from './lib/workspaces';

const PASSWORD = 'a-secret';
/** Milliseconds longer than the lock of a job is valid. */
const PAST_LOCK = 40_000;
const CONFIGURATION = {
  game: { name: 'matrix', kind: 'stag-hunt', maxSteps: 4 },
  agents: { kind: 'ppo', network: { kind: 'mlp', hidden: [8] }, executor: 'eager' },
  ...{ envs: 4, steps: 8, envSteps: 1280, checkpointEvery: 2 },
};

/** @returns whether each run ended once, with the same bits */
export async function soakSweep({ isQuick, seed }: { isQuick: boolean; seed: number }): Promise<boolean> {
  if (spawnSync('redis-server', ['--version']).status !== 0) throw new Error('redis-server is not installed.');
  const [runs, faults] = isQuick ? [12, 10] : [200, 100];
  const folder = mkdtempSync(join(tmpdir(), 'soak-sweep-'));
  const file = join(folder, 'sweep.json');
  const sweep = {
    configuration: CONFIGURATION,
    axes: { 'agents.ppo.gamma': [0.5, 0.9] },
    seeds: runs / 2,
    episodes: 20,
  };
  writeWholeSync(file, JSON.stringify(sweep));
  const [whole, disturbed] = [join(folder, 'whole'), join(folder, 'disturbed')];
  console.log(`${runs} runs that nothing disturbs, in ${folder}`);
  await ended(coplay('sweep', file, '--directory', whole));
  const port = await freePort();
  const url = `redis://:${PASSWORD}@127.0.0.1:${port}`;
  const start = () => startRedis(join(folder, 'redis'), port, PASSWORD);
  let server = await start();
  const workers = [0, 1].map(() => coplay('worker', '--redis', url, '--jobs', '1'));
  const sweeping = coplay('sweep', file, '--directory', disturbed, '--redis', url);
  const written = textOf(sweeping);
  const isOver = ended(sweeping);
  const generator = createGenerator(seed);
  const counts = { 'workers killed': 0, 'workers stopped': 0, 'servers killed': 0, 'runs given twice': 0 };
  for (let fault = 0; fault < faults && sweeping.exitCode === null; fault++) {
    await Promise.race([sleep(2000 + 4000 * generator.uniform()), isOver]);
    const at = generator.integer(workers.length);
    if (fault % 10 === 3) {
      await killServer(server);
      server = await start();
      counts['servers killed']++;
    } else if (fault % 10 === 6) {
      signalGroup(workers[at], 'SIGSTOP');
      await sleep(PAST_LOCK);
      signalGroup(workers[at], 'SIGCONT');
      counts['workers stopped']++;
    } else if (fault % 10 === 9) {
      const queue = new Queue('coplay', { connection: { host: '127.0.0.1', port, password: PASSWORD } });
      const run = `00${generator.integer(2)}-seed-${1 + generator.integer(runs / 2)}`;
      await queue.add(run, { directory: disturbed, run });
      await queue.close();
      counts['runs given twice']++;
    } else {
      signalGroup(workers[at], 'SIGKILL');
      workers[at] = coplay('worker', '--redis', url, '--jobs', '1');
      counts['workers killed']++;
    }
  }
  const code = await isOver;
  for (const worker of workers) signalGroup(worker, 'SIGKILL');
  server.kill('SIGKILL');
  const names = Array.from({ length: runs }, (_, i) => `00${i % 2}-seed-${1 + Math.floor(i / 2)}`);
  const lines = written().split('\n');
  const once = names.filter((name) => lines.filter((line) => line.startsWith(`${name}  done`)).length === 1);
  const equal = names.filter((name) => bitsOf(whole, name) === bitsOf(disturbed, name));
  console.table({ ...counts, runs, 'ended once': once.length, 'with the same bits': equal.length, status: code });
  const isGood = code === 0 && once.length === runs && equal.length === runs;
  if (isGood) rmSync(folder, { recursive: true, force: true });
  else console.log(`${written().slice(-3000)}\nFiles: ${folder}`);
  return isGood;
}

/** A command line in a group of processes of its own. */
function coplay(...words: readonly string[]): ChildProcess {
  const flags = ['--conditions=@coplay/source', '--import', 'tsx', join(root, 'packages/coplay/src/bin.ts')];
  const env = { ...process.env, COPLAY_THREADS: '1' };
  const options = { cwd: root, env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] as const };
  return spawn(process.execPath, [...flags, ...words], { ...options, stdio: [...options.stdio] });
}

function textOf(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.on('data', (data: Buffer) => {
    text += data.toString('utf8');
  });
  return () => text;
}

function ended(child: ChildProcess): Promise<number | null> {
  child.stderr?.resume();
  return new Promise((resolve) => child.once('close', resolve));
}

/** The log of a run, without times, and its result; '' where it has none. */
function bitsOf(directory: string, name: string): string {
  try {
    const texts = ['log.jsonl', 'result.json'].map((file) => readFileSync(join(directory, name, file), 'utf8'));
    const values = [...texts[0].trim().split('\n'), texts[1]].map((text) => JSON.parse(text));
    return JSON.stringify(values, (key, value) => (/^time\/|^seconds$/.test(key) ? undefined : value));
  } catch {
    return '';
  }
}
