import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import { writeEnd } from './directory';
import type { PlannedRun } from './plan';
import type { RunEnd, RunProgress } from './work';

/** What a sweep's work reports. */
export interface Watcher {
  onStart(run: PlannedRun): void;
  onProgress(run: PlannedRun, progress: RunProgress): void;
  onEnd(run: PlannedRun, end: RunEnd): void;
}

/** Processes of {@link runLocally}. */
export interface LocalOptions {
  /** Of the sweep. */
  readonly directory: string;
  /** Processes at once, at least 1. */
  readonly jobs: number;
  /** Stops all of them in good order: each saves a checkpoint. */
  readonly signal: AbortSignal;
}

/** What a worker says. Anything else that it sends is ignored. */
const reply = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('progress'), progress: z.custom<RunProgress>() }),
  z.object({ kind: z.literal('end'), end: z.custom<RunEnd>() }),
]);

/** The address of this module; a build for CommonJS has only a path. */
const HERE = import.meta.url ?? pathToFileURL(__filename).href;
const IS_SOURCE = HERE.endsWith('.ts');
/** The command line, which has the command of a worker; built, all modules lie in one folder. */
const COMMAND_LINE = fileURLToPath(
  new URL(IS_SOURCE ? '../bin.ts' : HERE.endsWith('.cjs') ? './bin.cjs' : './bin.js', HERE),
);

/** Characters of what a worker writes that are kept, for the error of one that dies. */
const KEPT = 2000;

/**
 * Does runs of a sweep in processes that stay for the next run: what a run compiles and loads is there for those after
 * it. A run whose process dies has failed, and a new process takes its place.
 */
export async function runLocally(runs: readonly PlannedRun[], options: LocalOptions, watcher: Watcher): Promise<void> {
  const waiting = [...runs];
  const next = () => (options.signal.aborted ? undefined : waiting.shift());
  const count = Math.min(options.jobs, runs.length);
  await Promise.all(Array.from({ length: count }, () => work(next, options, watcher)));
}

async function work(next: () => PlannedRun | undefined, options: LocalOptions, watcher: Watcher): Promise<void> {
  let worker: Worker | undefined;
  for (let run = next(); run !== undefined; run = next()) {
    worker ??= new Worker(options);
    watcher.onStart(run);
    const end = await worker.perform(run, (progress) => watcher.onProgress(run!, progress));
    if (!worker.isAlive) {
      worker = undefined;
      writeEnd(options.directory, run, end as { readonly error: string });
    }
    watcher.onEnd(run, end);
  }
  worker?.end();
}

/** One process. */
class Worker {
  private readonly process: ChildProcess;
  private written = '';
  private listener: ((message: z.infer<typeof reply>) => void) | undefined;
  isAlive = true;

  constructor({ directory, jobs, signal }: LocalOptions) {
    const threads = String(Math.max(1, Math.floor(availableParallelism() / jobs)));
    this.process = fork(COMMAND_LINE, ['worker', directory], {
      ...(IS_SOURCE && { execArgv: ['--conditions=@coplay/source', '--import', 'tsx'] }),
      // Processes side by side must not fight for the cores. A number that the user gave stays.
      env: { COPLAY_THREADS: threads, ...process.env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.process.stderr?.on('data', (data: Buffer) => {
      this.written = (this.written + data.toString('utf8')).slice(-KEPT);
    });
    this.process.on('message', (message) => {
      const { data } = reply.safeParse(message);
      if (data) this.listener?.(data);
    });
    const stop = () => this.send('stop');
    signal.addEventListener('abort', stop, { once: true });
    this.process.on('close', () => {
      this.isAlive = false;
      signal.removeEventListener('abort', stop);
    });
  }

  /** Resolves when the run has ended, or its process. */
  perform({ name }: PlannedRun, onProgress: (progress: RunProgress) => void): Promise<RunEnd> {
    return new Promise((resolve) => {
      const onClose = (code: number | null, signal: NodeJS.Signals | null) => {
        const last = this.written.trim() === '' ? '' : `; it wrote: ${this.written.trim()}`;
        resolve({ error: `its process ended with ${signal ?? `status ${code}`}${last}` });
      };
      this.process.once('close', onClose);
      this.process.once('error', () => undefined); // 'close' follows, or has been
      this.listener = (message) => {
        if (message.kind === 'progress') onProgress(message.progress);
        if (message.kind !== 'end') return;
        this.process.off('close', onClose);
        resolve(message.end);
      };
      this.send(name);
    });
  }

  end(): void {
    this.send('end');
  }

  private send(message: string): void {
    if (this.process.connected) this.process.send(message);
  }
}
