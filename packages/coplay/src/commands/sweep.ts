import { join } from 'node:path';
import { textTable } from '@coplay/diagnostics';
import {
  answer,
  command,
  EXIT,
  type Flags,
  JSON_FLAG,
  type Terminal,
  textOf,
  UsageError,
  wholeNumber,
} from '../command';
import {
  bestTable,
  type RunEnd,
  type RunProgress,
  runOne,
  runSweep,
  type SweepResult,
  submitSweep,
  summarizeSweep,
  type Watcher,
} from '../sweep';

/** Settings in the table at the end. */
const BEST = 10;
/** Seconds between two lines about runs that are at work. */
const EVERY = 10;

/** `coplay sweep` */
export const sweepCommand = command({
  usage: 'sweep FILE [--directory DIR] [--jobs N] [--redis URL | --slurm | --index N | --summary] [--resume]',
  summary:
    'Does many runs: the settings of a file (.json, .ts, .mts, .js, .mjs), each with the same seeds. Ctrl-C stops all.',
  words: { least: 1, most: 1 },
  flags: {
    directory: { value: 'DIR', what: 'where its files go; default: that of the file' },
    jobs: { value: 'N', what: 'runs at once; default: as many as there are cores' },
    redis: {
      value: 'URL',
      what: 'lets workers at a Redis server do the runs: coplay worker --redis URL, on any machine',
    },
    resume: { what: 'goes on with a sweep that was begun: runs that are done stay, others go on from a checkpoint' },
    slurm: { what: 'gives the runs to SLURM as a job array, and returns at once; --jobs: how many of them at once' },
    index: { value: 'N', what: 'does only the run with this index, from 0: for jobs of SLURM or Kubernetes' },
    summary: { what: 'trains nothing; writes the index and the report of the runs that have ended' },
    ...JSON_FLAG,
  },
  async run([file], flags, terminal) {
    const ways = (['redis', 'slurm', 'index', 'summary'] as const).filter((name) => flags[name] !== undefined);
    if (ways.length > 1) throw new UsageError(`One of these at a time: --${ways.join(', --')}.`);
    const directory = textOf(flags, 'directory');
    const options = {
      file,
      ...(directory !== undefined && { directory }),
      warn: terminal.err,
    };
    const jobs = wholeNumber(flags, 'jobs', 1);
    const resume = flags['resume'] === true;
    if (flags['slurm']) return submit({ ...options, resume, ...(jobs !== undefined && { jobs }) }, flags, terminal);
    const signal = terminal.interrupt();
    if (flags['summary']) return report(await summarizeSweep(options), signal, flags, terminal);
    const index = wholeNumber(flags, 'index');
    if (index !== undefined) return one({ ...options, signal }, index, flags, terminal);
    const redis = textOf(flags, 'redis');
    const own = { ...(jobs !== undefined && { jobs }), ...(redis !== undefined && { redis }) };
    const { watcher, end } = watch(terminal);
    try {
      return report(await runSweep({ ...options, ...own, resume, signal, watcher }), signal, flags, terminal);
    } finally {
      end();
    }
  },
});

/** Gives all runs to SLURM. */
async function submit(options: Parameters<typeof submitSweep>[0], flags: Flags, terminal: Terminal): Promise<number> {
  const submitted = await submitSweep(options);
  const { directory, runs, jobs } = submitted;
  answer(terminal, flags, submitted, () => {
    if (!jobs) return `All runs in ${directory} are done.`;
    const { array, summary } = jobs;
    return [
      `SLURM has ${runs} runs as the array ${array} (squeue --jobs=${array}; scancel ${array}).`,
      `What they write: ${directory}/slurm. At their end job ${summary} writes index.json and report.html.`,
    ].join('\n');
  });
  return EXIT.ok;
}

/** One run of a job array. */
async function one(
  options: Parameters<typeof runOne>[0],
  index: number,
  flags: Flags,
  terminal: Terminal,
): Promise<number> {
  const { watcher, end } = watch(terminal);
  try {
    const { directory, run, end: ended } = await runOne(options, index, watcher.onProgress);
    watcher.onEnd(run, ended);
    answer(terminal, flags, { ...run, end: ended }, () => `Files of the run: ${join(directory, run.name)}`);
    if (ended === 'stopped') return EXIT.interrupted;
    return ended === 'taken' || 'error' in ended ? EXIT.failed : EXIT.ok;
  } finally {
    end();
  }
}

/** Writes a line when a run begins or ends, and every few seconds those that are at work. */
export function watch({ err }: Terminal): { readonly watcher: Watcher; end(): void } {
  const atWork = new Map<string, { progress?: RunProgress; readonly start: number }>();
  const timer = setInterval(() => {
    for (const [name, { progress, start }] of atWork) if (progress) err(progressLine(name, progress, start));
  }, 1000 * EVERY);
  timer.unref();
  const watcher: Watcher = {
    onStart({ name, settings }) {
      atWork.set(name, { start: performance.now() });
      err(`${name}  begins: ${JSON.stringify(settings)}`);
    },
    onProgress({ name }, progress) {
      atWork.set(name, { start: performance.now(), ...atWork.get(name), progress });
    },
    onEnd({ name }, end) {
      atWork.delete(name);
      err(`${name}  ${endLine(end)}`);
    },
  };
  return { watcher, end: () => clearInterval(timer) };
}

function progressLine(name: string, { envSteps, total, returnMean }: RunProgress, start: number): string {
  const seconds = (performance.now() - start) / 1000;
  const left = Math.round((seconds / envSteps) * (total - envSteps));
  const shown = returnMean === null ? '' : `  return ${returnMean.toFixed(2)}`;
  if (envSteps >= total) return `${name}  ${total.toLocaleString('en')} steps done${shown}  evaluating`;
  return `${name}  ${envSteps.toLocaleString('en')}/${total.toLocaleString('en')} steps${shown}  ${left} s left`;
}

function endLine(end: RunEnd): string {
  if (end === 'stopped') return 'stopped, with a checkpoint';
  if (end === 'taken') return 'another process is at it';
  if ('error' in end) return `failed: ${end.error}`;
  return `done: return ${end.mean.toFixed(3)} after ${end.envSteps.toLocaleString('en')} steps, ${end.seconds.toFixed(1)} s`;
}

/** The best settings, runs that failed, and where the files are. */
function report({ runs, best }: SweepResult, signal: AbortSignal, flags: Flags, terminal: Terminal): number {
  answer(terminal, flags, { best, runs }, () =>
    best.length > 0 ? textTable(bestTable(best, BEST)) : 'No run is done.',
  );
  const count = (state: string) => runs.filter((run) => run.state === state).length;
  const [done, failed, open] = ['done', 'failed', 'open'].map(count);
  terminal.err(`${done} of ${runs.length} runs done, ${failed} failed, ${open} to do.`);
  if (failed + open > 0) terminal.err('To go on: the same command with --resume.');
  if (signal.aborted && open > 0) return EXIT.interrupted;
  return failed > 0 ? EXIT.failed : EXIT.ok;
}
