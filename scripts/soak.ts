/**
 * Trains every trainer for a while, each in a process of its own, and watches the resources of the process: resident
 * memory by the minute, and descriptors and threads before the trainer is made and after `dispose()`. Not part of
 * `npm test`. Linux only.
 *
 *   npm run soak                                       an hour each
 *   npm run soak -- --minutes 15 --only ppo,hop-plus   some of them, shorter
 *   npm run soak -- --out soak.json                    writes the figures there after each trainer
 *   npm run soak -- sweep --quick                      faults of a sweep in place of trainers: scripts/soak-sweep.ts
 *
 * Its bars: memory rises by less than 1 MB a minute after the first ten minutes (after half of the time, where that is
 * shorter), and nothing is left after `dispose()`.
 */
import { fork } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeWhole } from '@coplay/core/node';
import { executorInfo, tf, useBackend } from '@coplay/tensor';
import { TRAINERS } from '../packages/trainers/test/fixtures/trainers';
import { soakSweep } from './soak-sweep';

/** Resident memory after collecting garbage. */
interface Sample {
  readonly minute: number;
  readonly megabytes: number;
  readonly tensors: number;
}

/** Descriptors and threads of the process. */
interface Held {
  readonly descriptors: number;
  readonly threads: number;
}

/** The measurements of one trainer. */
interface Soak {
  readonly trainer: string;
  readonly minutes: number;
  readonly updates: number;
  /** Least squares over the samples after the first ten minutes, or after half of the time. */
  readonly megabytesPerMinute: number;
  readonly lastMegabytes: number;
  readonly before: Held;
  readonly after: Held;
  readonly ok: boolean;
  readonly samples: readonly Sample[];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '60' },
    only: { type: 'string' },
    out: { type: 'string' },
    child: { type: 'string' },
    quick: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
});
const minutes = Number(values.minutes);
const MOST_PER_MINUTE = 1;

if (positionals[0] === 'sweep') {
  process.exitCode = (await soakSweep({ isQuick: values.quick, seed: Number(values.seed) })) ? 0 : 1;
} else if (values.child === undefined) await parent(values.only?.split(',') ?? Object.keys(TRAINERS));
else process.send?.(await soak(values.child));

/** One trainer after the other, and a table of all. */
async function parent(names: readonly string[]): Promise<void> {
  const unknown = names.find((name) => !(name in TRAINERS));
  if (unknown !== undefined) throw new Error(`There is no trainer ${unknown}. There are ${Object.keys(TRAINERS)}.`);
  console.log(`${(await executorInfo()).reason}; ${minutes} minutes each: ${names.join(', ')}`);
  const found: Soak[] = [];
  for (const name of names) {
    found.push(await inProcess(name));
    if (values.out !== undefined) await writeWhole(values.out, `${JSON.stringify(found, null, 1)}\n`);
  }
  console.table(found.map(row));
  process.exitCode = found.every(({ ok }) => ok) ? 0 : 1;
}

function row({ trainer, updates, megabytesPerMinute, lastMegabytes, before, after, ok }: Soak) {
  return {
    ...{ trainer, updates, 'MB/min': Number(megabytesPerMinute.toFixed(2)), MB: Math.round(lastMegabytes) },
    descriptors: `${before.descriptors} to ${after.descriptors}`,
    threads: `${before.threads} to ${after.threads}`,
    ok,
  };
}

function inProcess(name: string): Promise<Soak> {
  const given = ['--minutes', String(minutes), '--child', name];
  const child = fork(fileURLToPath(import.meta.url), given, { execArgv: process.execArgv });
  return new Promise((resolve, reject) => {
    child.on('message', (soaked) => resolve(soaked as Soak));
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`${name} ended with ${code}`)));
  });
}

/** Trains in this process until the time is over. */
async function soak(name: string): Promise<Soak> {
  await useBackend('auto'); // before tensors are counted
  await train(name, 0.2); // starts what stays for ever: ONNX Runtime, worker threads, the pool of libuv
  const before = await held();
  const { samples, updates } = await train(name, minutes);
  const after = await heldAfter(before);
  const megabytesPerMinute = slope(samples.filter(({ minute }) => minute >= Math.min(10, minutes / 2)));
  const isFreed = after.descriptors <= before.descriptors && after.threads <= before.threads;
  return {
    ...{ trainer: name, minutes, updates, megabytesPerMinute, before, after, samples },
    lastMegabytes: samples.at(-1)?.megabytes ?? Number.NaN,
    ok: megabytesPerMinute < MOST_PER_MINUTE && isFreed,
  };
}

async function train(name: string, time: number): Promise<{ samples: Sample[]; updates: number }> {
  const trainer = TRAINERS[name]('example');
  const samples: Sample[] = [];
  const stop = new AbortController();
  const start = performance.now();
  let updates = 0;
  const watch = (): void => {
    updates++;
    const minute = (performance.now() - start) / 60_000;
    if (minute >= (samples.length * time) / 60) samples.push(sampleAt(minute, name));
    if (minute >= time) stop.abort();
  };
  await trainer.train(1_000_000, watch, stop.signal);
  trainer.dispose();
  return { samples, updates };
}

function sampleAt(minute: number, name: string): Sample {
  globalThis.gc?.();
  const sample = { minute, megabytes: process.memoryUsage.rss() / 2 ** 20, tensors: tf.memory().numTensors };
  console.log(`${name}  ${minute.toFixed(1)} min  ${sample.megabytes.toFixed(0)} MB  ${sample.tensors} tensors`);
  return sample;
}

/** Sessions and threads are released after `dispose()` has returned: half a minute for them. */
async function heldAfter(before: Held): Promise<Held> {
  let now = await held();
  for (
    let second = 1;
    second < 30 && (now.descriptors > before.descriptors || now.threads > before.threads);
    second++
  ) {
    now = await held();
  }
  return now;
}

async function held(): Promise<Held> {
  await sleep(1000);
  return { descriptors: readdirSync('/proc/self/fd').length, threads: readdirSync('/proc/self/task').length };
}

/** Of megabytes over minutes, by least squares. */
function slope(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [minute, megabytes] = [mean((one) => one.minute), mean((one) => one.megabytes)];
  const covariance = mean((one) => (one.minute - minute) * (one.megabytes - megabytes));
  return covariance / mean((one) => (one.minute - minute) ** 2);
}
