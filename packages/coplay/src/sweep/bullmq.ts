import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkOptions, fail } from '@coplay/core';
import type { Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { endOf, plannedRun } from './directory';
import { Pool, type PoolOptions, type runLocally, type Watcher } from './local';
import type { PlannedRun } from './plan';
import type { RunProgress } from './work';

/*
 * Sweeps on many machines: BullMQ's queue on a Redis server has one job for each run, workers take them, and all share
 * the sweep's directory. What is done is what the directory says; Redis only says who does what. So a job that comes
 * twice, or that Redis lost, does no harm.
 */

/** All sweeps and workers of one server share it. */
const QUEUE = 'coplay';
/** Milliseconds between two looks at jobs that are open. */
const LOOK = 1000;
/** Milliseconds after which a worker that says nothing has lost its job. */
const LOCK = 30_000;
/** How often a run may be begun again after its process died or while another process is at it. */
const ATTEMPTS = 50;

/** Data of a job: no code. */
interface SweepJob {
  /** Of the sweep, absolute; on all machines the same. */
  readonly directory: string;
  readonly run: string;
  /** Where it ends for now, in successive halving. */
  readonly envSteps?: number;
}

const jobSchema = z.strictObject({ directory: z.string(), run: z.string(), envSteps: z.int().min(1).optional() });

/**
 * Connects to a Redis server, whose workers then do runs of a sweep; see {@link workFromRedis}.
 *
 * @throws CoplayError as {@link redisAt} does
 */
export async function runThroughRedis(url: string): Promise<typeof runLocally> {
  const { bullmq, connect } = await redisAt('coplay sweep --redis', url);
  return async (directory, waiting, { signal }, watcher) => {
    const connection = connect();
    const queue = new bullmq.Queue<SweepJob>(QUEUE, { connection });
    queue.on('error', () => undefined); // the server is away: the connection tries again
    const place = resolve(directory);
    const open = new Map<string, PlannedRun>();
    const addWaiting = async (isNext: boolean) => {
      for (const run of waiting.splice(0)) {
        const id = jobIdOf(place, run);
        open.set(id, run);
        const before = await queue.getJob(id);
        if ((await before?.getState()) === 'failed') await before?.remove();
        await add(queue, place, id, run, isNext);
      }
    };
    try {
      await addWaiting(false);
      const started = new Set<string>();
      while (open.size > 0 && !signal.aborted) {
        for (const [id, run] of open) {
          if (await look(queue, place, id, run, started, watcher)) open.delete(id);
        }
        if (!signal.aborted) await addWaiting(true);
        await sleep(LOOK, undefined, { signal }).catch(() => undefined);
      }
      // Runs that are at work go on to their ends; those that wait are taken back.
      for (const id of open.keys()) await queue.remove(id);
    } finally {
      await queue.close();
      connection.disconnect();
    }
  };
}

/** Tells the watcher how one job is. @returns whether it has ended */
async function look(
  queue: Queue<SweepJob>,
  place: string,
  id: string,
  run: PlannedRun,
  started: Set<string>,
  watcher: Watcher,
): Promise<boolean> {
  const job = await queue.getJob(id);
  const state = await job?.getState();
  if (!started.has(id) && state !== 'waiting') {
    started.add(id);
    watcher.onStart(run);
  }
  const end = endOf(place, run);
  const isOver = end !== undefined && (!('error' in end) || state === 'failed' || job === undefined);
  if (isOver) watcher.onEnd(run, end);
  else if (job === undefined || state === 'failed' || state === 'completed') await again(queue, place, id, run, job);
  else if (state === 'active' && isProgress(job.progress)) watcher.onProgress(run, job.progress);
  return isOver;
}

/** A job without an end, which the queue takes for over: Redis lost it, or its worker died too often. */
async function again(queue: Queue<SweepJob>, place: string, id: string, run: PlannedRun, job: Job | undefined) {
  await job?.remove();
  await add(queue, place, id, run);
}

/** @param isNext  whether it comes before the jobs that wait: settings that go on come before new ones */
function add(
  queue: Queue<SweepJob>,
  directory: string,
  jobId: string,
  { name, envSteps }: PlannedRun,
  isNext = false,
): Promise<unknown> {
  // One id, one job: a sweep that is resumed doesn't double those that wait.
  return queue.add(
    name,
    { directory, run: name, ...(envSteps && { envSteps }) },
    {
      jobId,
      lifo: isNext,
      attempts: ATTEMPTS,
      backoff: { type: 'fixed', delay: LOOK },
      removeOnComplete: true,
    },
  );
}

function jobIdOf(place: string, { name, envSteps }: PlannedRun): string {
  return `${createHash('sha256').update(place).digest('hex').slice(0, 16)}-${name}${envSteps ? `-${envSteps}` : ''}`;
}

function isProgress(value: unknown): value is RunProgress {
  return typeof (value as RunProgress | null)?.envSteps === 'number';
}

/**
 * Does runs of all sweeps that wait at a Redis server, until the signal: then runs at work save a checkpoint, and their
 * jobs wait again.
 */
export async function workFromRedis(url: string, options: PoolOptions, watcher: Watcher): Promise<void> {
  const { bullmq, connect } = await redisAt('coplay worker --redis', url);
  const pool = new Pool(options);
  const perform = async (job: Job<SweepJob>, token?: string): Promise<void> => {
    const { directory, run: name, envSteps } = checkOptions('coplay worker: job', jobSchema, job.data);
    const run = { ...plannedRun(directory, name), ...(envSteps && { envSteps }) };
    watcher.onStart(run);
    const end = await pool.perform(directory, run, (progress) => {
      watcher.onProgress(run, progress);
      void job.updateProgress({ ...progress }).catch(() => undefined);
    });
    watcher.onEnd(run, end);
    if (end === 'stopped') {
      await job.moveToWait(token);
      throw new bullmq.WaitingError();
    }
    if (end === 'taken') throw new Error('another process is at this run');
    if ('error' in end && !end.error.startsWith('its process ended')) throw new bullmq.UnrecoverableError(end.error);
    if ('error' in end) throw new Error(end.error);
  };
  const connection = connect();
  const worker = new bullmq.Worker<SweepJob>(QUEUE, perform, {
    connection,
    concurrency: options.jobs,
    lockDuration: LOCK,
    stalledInterval: LOCK / 2,
    maxStalledCount: ATTEMPTS,
  });
  worker.on('error', () => undefined); // the server is away: the connection tries again
  if (!options.signal.aborted) {
    await new Promise<void>((end) => options.signal.addEventListener('abort', () => end(), { once: true }));
  }
  await worker.close();
  pool.end();
  connection.disconnect();
}

/**
 * The libraries, and connections to a server that was reached once.
 *
 * @throws CoplayError without the URL's password: for a missing package, a server that isn't there, or a wrong password
 */
async function redisAt(where: string, given: string) {
  const [bullmq, ioredis] = await Promise.all([import('bullmq'), import('ioredis')]).catch((error: Error) =>
    fail(where, 'the packages bullmq and ioredis', error.message, 'Install them: npm install bullmq@6 ioredis@6'),
  );
  // `env:NAME` keeps a password out of the list of processes.
  const variable = given.startsWith('env:') ? given.slice(4) : undefined;
  const url = variable === undefined ? given : process.env[variable];
  if (url === undefined) {
    return fail(
      where,
      `a URL in the environment variable ${variable}`,
      'none',
      `Set it: export ${variable}=redis://...`,
    );
  }
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^rediss?:$/.test(address.protocol)) {
    fail(where, 'a URL such as redis://:PASSWORD@HOST:6379', 'something else', 'Give the address of a Redis server.');
  }
  const trial = new ioredis.Redis(url, {
    ...{ lazyConnect: true, connectTimeout: 5000 },
    ...{ retryStrategy: () => null, maxRetriesPerRequest: 0 },
  });
  // The reason comes with this event, and not from the call: a wrong password ends the connection.
  let reason: Error | undefined;
  trial.on('error', (error: Error) => {
    reason ??= error;
  });
  try {
    await trial.connect();
    await trial.ping();
  } catch (error) {
    const got = `${(reason ?? (error as Error)).message} (${address.host})`;
    fail(where, 'a Redis server that answers', got, 'Check host, port and password, and that the server runs.');
  } finally {
    trial.disconnect();
  }
  const connect = (): Redis => {
    const connection = new ioredis.Redis(url, { maxRetriesPerRequest: null });
    connection.on('error', () => undefined);
    return connection;
  };
  return { bullmq, connect };
}
