import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { checkOptions, fail } from '@coplay/core';
import { takeLock } from '@coplay/core/node';
import { z } from 'zod';
import { runThroughRedis } from './bullmq';
import { checkSamePlan, isBegun, type PlannedSweep, readSweep, refuseRun, writePlan } from './directory';
import { promote, reachedRungs, runTo, tooFewSettings } from './halving';
import { runLocally, type Watcher } from './local';
import type { PlannedRun } from './plan';
import { checkSlurm, type SubmittedJobs, submitToSlurm } from './slurm';
import { resultOf, type SweepResult, writeIndex, writeSummary } from './summary';
import { perform, type RunEnd, type RunProgress } from './work';

/** Options of {@link runSweep}. */
export interface RunSweepOptions {
  /** The sweep's file: JSON, or TypeScript or JavaScript with `export default defineSweep({ … })`. */
  readonly file: string;
  /** Where its files go. Default: the sweep's `directory` */
  readonly directory?: string;
  /** Runs at once, each in a process of its own; at least 1. Default: as many as there are cores */
  readonly jobs?: number;
  /**
   * The URL of a Redis server, `redis://:PASSWORD@HOST:PORT` or `rediss://` for TLS: workers anywhere that share the
   * directory do the runs (`coplay worker --redis URL`). Needs the packages bullmq and ioredis. Default: this machine
   */
  readonly redis?: string;
  /** Whether to go on with a sweep that was begun in the directory. Default false: that is refused */
  readonly resume?: boolean;
  /** Stops all runs in good order: each saves a checkpoint. */
  readonly signal?: AbortSignal;
  /** Is told what goes on. */
  readonly watcher?: Partial<Watcher>;
  /** Receives warnings. Default `console.warn` */
  readonly warn?: (line: string) => void;
}

const callable = z.custom<() => void>((value) => typeof value === 'function', 'a function').optional();

const schema = z.strictObject({
  file: z.string().min(1),
  directory: z.string().min(1).optional(),
  jobs: z.int().min(1).optional(),
  redis: z.string().min(1).optional(),
  resume: z.boolean().default(false),
  signal: z
    .custom<AbortSignal>((value) => typeof (value as AbortSignal)?.addEventListener === 'function', 'an AbortSignal')
    .optional(),
  watcher: z.strictObject({ onStart: callable, onProgress: callable, onEnd: callable }).optional(),
  warn: callable,
});

/**
 * Does all runs of a sweep on this machine, several at once, and writes `index.json`, `report.html` and
 * `settings.svg`. A run that fails doesn't stop the others.
 *
 * @returns how each run ended, and the best settings
 * @throws CoplayError, before anything runs, for a file, an option or any setting that is wrong, and for a directory
 *         that another sweep has
 */
export async function runSweep(options: RunSweepOptions): Promise<SweepResult> {
  const {
    signal,
    watcher,
    warn = console.warn,
    ...checked
  } = checkOptions('runSweep', schema, options) as RunSweepOptions;
  const work = options.redis === undefined ? runLocally : await runThroughRedis(options.redis);
  const { directory, planned } = await begin({ ...checked, warn });
  warnOfHalving(planned, warn);
  const lock = takeLock('coplay sweep', join(directory, 'sweep'), `the sweep in ${directory}`);
  try {
    promote(directory, planned);
    let result = resultOf(directory, planned);
    writeIndex(directory, result);
    const reached = reachedRungs(directory, planned);
    const waiting = planned.runs
      .filter((_, i) => result.runs[i].state !== 'done')
      .map((run) => (planned.rungs ? runTo(run, reached[run.setting], planned.rungs) : run));
    const pool = { jobs: options.jobs ?? availableParallelism(), signal: signal ?? new AbortController().signal };
    await work(directory, waiting, pool, {
      onStart: (run) => watcher?.onStart?.(run),
      onProgress: (run, progress) => watcher?.onProgress?.(run, progress),
      onEnd: (run, end) => {
        waiting.unshift(...promote(directory, planned));
        result = resultOf(directory, planned);
        writeIndex(directory, result);
        watcher?.onEnd?.(run, end);
      },
    });
    await writeSummary(directory, result, planned.sweep.axes);
    return result;
  } finally {
    lock.release();
  }
}

function warnOfHalving({ sweep, runs, rungs }: PlannedSweep, warn: (message: string) => void): void {
  const few = rungs && tooFewSettings(runs.at(-1)!.setting + 1, rungs, sweep.halving!.eta);
  if (few) warn(few);
}

/**
 * Does the one run with an index in the sweep's plan, in this process: for job arrays of SLURM or Kubernetes, which
 * give each job an index. All jobs share the directory; the first one writes the plan.
 *
 * @param index  from 0 to the number of runs less 1
 * @throws CoplayError as {@link runSweep} does, and for an index out of range
 */
export async function runOne(
  options: Pick<RunSweepOptions, 'file' | 'directory' | 'signal' | 'warn'>,
  index: number,
  onProgress: (run: PlannedRun, progress: RunProgress) => void,
): Promise<{ readonly directory: string; readonly run: PlannedRun; readonly end: RunEnd }> {
  const { signal, warn = console.warn, ...rest } = options;
  const check = ({ runs, rungs }: PlannedSweep) => {
    if (rungs) refuseHalving('--index');
    if (index < runs.length) return;
    const expected = `an index from 0 to ${runs.length - 1}`;
    fail('coplay sweep --index', expected, String(index), `The sweep has ${runs.length} runs.`);
  };
  const { directory, planned } = await begin({ ...rest, warn, resume: true, check });
  const run = planned.runs[index];
  const stop = signal ?? new AbortController().signal;
  const end = await perform(directory, planned, run, stop, (progress) => onProgress(run, progress));
  return { directory, run, end };
}

/**
 * Gives all runs of a sweep that aren't done to SLURM, and returns at once. Jobs of SLURM write all files.
 *
 * @throws CoplayError as {@link runSweep} does, and where SLURM isn't there or refuses the jobs
 */
export async function submitSweep(
  options: Pick<RunSweepOptions, 'file' | 'directory' | 'jobs' | 'resume' | 'warn'>,
): Promise<{ readonly directory: string; readonly runs: number; readonly jobs?: SubmittedJobs }> {
  const { file, jobs, warn = console.warn } = options;
  await checkSlurm();
  const check = ({ rungs }: PlannedSweep) => {
    if (rungs) refuseHalving('--slurm');
  };
  const { directory, planned } = await begin({ ...options, warn, check });
  const { runs } = resultOf(directory, planned);
  const indices = runs.flatMap(({ state }, index) => (state === 'done' ? [] : [index]));
  if (indices.length === 0) return { directory, runs: 0 };
  return { directory, runs: indices.length, jobs: await submitToSlurm(file, directory, indices, jobs) };
}

/** Writes index and report of a sweep that other processes work on, and does no run. */
export async function summarizeSweep(
  options: Pick<RunSweepOptions, 'file' | 'directory' | 'warn'>,
): Promise<SweepResult> {
  const place = options.directory;
  if (place !== undefined && !isBegun(place)) {
    fail('coplay sweep --summary', 'the directory of a sweep that was begun', place, 'Check the path.');
  }
  const { directory, planned } = await begin({ ...options, warn: options.warn ?? console.warn, resume: true });
  const result = resultOf(directory, planned);
  writeIndex(directory, result);
  await writeSummary(directory, result, planned.sweep.axes);
  return result;
}

function refuseHalving(flag: string): never {
  const remedy = 'Use --jobs or --redis: which run comes next depends on the results of all.';
  return fail(`coplay sweep ${flag}`, 'a sweep without halving', 'one with it', remedy);
}

/**
 * Reads the file, and writes the plan or compares it with the one in the directory.
 *
 * @param check  may refuse the plan before anything is written
 */
async function begin({
  file,
  directory: given,
  resume,
  warn,
  check,
}: Pick<RunSweepOptions, 'file' | 'directory' | 'resume'> & {
  warn(line: string): void;
  check?(planned: PlannedSweep): void;
}): Promise<{
  readonly directory: string;
  readonly planned: PlannedSweep;
}> {
  const planned = await readSweep(file);
  const directory = given ?? planned.sweep.directory;
  if (!directory) {
    return fail('coplay sweep', 'a directory', 'none', 'Give --directory sweeps/NAME, or directory in the file.');
  }
  check?.(planned);
  if (!isBegun(directory)) {
    refuseRun(directory);
    writePlan(directory, planned, warn);
  } else if (resume) checkSamePlan(directory, file, planned);
  else {
    fail(
      'coplay sweep',
      'a directory without a sweep',
      directory,
      `Go on with it: coplay sweep ${file} --directory ${directory} --resume`,
    );
  }
  return { directory, planned };
}
