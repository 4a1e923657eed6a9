import { command, EXIT, UsageError } from '../command';
import { ALLOW_CODE } from '../configuration';
import { perform, type RunProgress, sweepIn } from '../sweep';

/** Milliseconds between two reports of a run's progress. */
const EVERY = 500;

/** `coplay worker` */
export const workerCommand = command({
  usage: 'worker SWEEP',
  summary: 'Does runs of a sweep for the `coplay sweep` that started it. People need no such command.',
  words: { least: 1, most: 1 },
  flags: ALLOW_CODE,
  async run([directory], flags, terminal) {
    const send = process.send?.bind(process);
    if (!send) throw new UsageError('Only `coplay sweep` starts a worker, and gives it runs.');
    const planned = await sweepIn(directory, flags['allow-code'] === true);
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
        const run = planned.runs.find(({ name }) => name === message);
        if (message === 'end' || !run) return end();
        isBusy = true;
        let last = 0;
        const onProgress = (progress: RunProgress) => {
          if (performance.now() - last < EVERY || !process.connected) return;
          last = performance.now();
          send({ kind: 'progress', progress });
        };
        const ended = await perform(directory, planned, run, stop.signal, onProgress);
        isBusy = false;
        if (process.connected) send({ kind: 'end', end: ended });
        else resolve();
      });
    });
    if (process.connected) process.disconnect();
    return EXIT.ok;
  },
});
