import { availableParallelism } from 'node:os';
import { command, EXIT, type Terminal, textOf, UsageError, wholeNumber } from '../command';
import { ALLOW_CODE } from '../configuration';
import { type Assignment, perform, type RunProgress, sweepIn, workFromRedis } from '../sweep';
import { watch } from './sweep';

/** Milliseconds between two reports of a run's progress. */
const EVERY = 500;

/** `coplay worker` */
export const workerCommand = command({
  usage: 'worker --redis URL [--jobs N]',
  summary: 'Does runs of sweeps that wait at a Redis server (coplay sweep FILE --redis URL), until Ctrl-C.',
  words: { least: 0, most: 1 },
  flags: {
    redis: {
      value: 'URL',
      what: 'redis://:PASSWORD@HOST:PORT, rediss:// for TLS, or env:NAME: the variable that has it',
    },
    jobs: { value: 'N', what: 'runs at once; default: as many as there are cores' },
    ...ALLOW_CODE,
  },
  async run([directory], flags, terminal) {
    const [url, allowsCode] = [textOf(flags, 'redis'), flags['allow-code'] === true];
    if (directory !== undefined && url === undefined) return serve(directory, allowsCode, terminal);
    if (url === undefined) throw new UsageError('Where from? coplay worker --redis URL');
    if (directory !== undefined) throw new UsageError('A worker does runs of all sweeps that wait: name none.');
    const jobs = wholeNumber(flags, 'jobs', 1) ?? availableParallelism();
    const { watcher, end } = watch(terminal);
    terminal.err('Waits for runs of coplay sweep FILE --redis URL; Ctrl-C ends it.');
    try {
      await workFromRedis(url, { jobs, allowsCode, signal: terminal.interrupt() }, watcher);
    } finally {
      end();
    }
    return EXIT.ok;
  },
});

/** Does the runs that another process of ours names, one after another: `coplay worker SWEEP`, for no one else. */
async function serve(directory: string, allowsCode: boolean, terminal: Terminal): Promise<number> {
  const send = process.send?.bind(process);
  if (!send) throw new UsageError('Only `coplay sweep` starts a worker of one sweep, and gives it runs.');
  const planned = await sweepIn(directory, allowsCode);
  const stop = new AbortController();
  terminal.interrupt().addEventListener('abort', () => stop.abort());
  let isBusy = false;
  await new Promise<void>((resolve) => {
    const end = () => {
      stop.abort();
      if (!isBusy) resolve();
    };
    // Where the process that gives work is gone, this one saves a checkpoint and ends.
    process.once('disconnect', end);
    process.on('message', async (message) => {
      if (message === 'stop') return stop.abort();
      if (message === 'end') return end();
      const { run: named, envSteps } = message as Assignment;
      const run = planned.runs.find(({ name }) => name === named);
      if (!run) return end();
      isBusy = true;
      let last = 0;
      const onProgress = (progress: RunProgress) => {
        if (performance.now() - last < EVERY || !process.connected) return;
        last = performance.now();
        send({ kind: 'progress', progress });
      };
      const ended = await perform(
        directory,
        planned,
        { ...run, ...(envSteps && { envSteps }) },
        stop.signal,
        onProgress,
      );
      isBusy = false;
      if (process.connected) send({ kind: 'end', end: ended });
      else resolve();
    });
  });
  if (process.connected) process.disconnect();
  return EXIT.ok;
}
