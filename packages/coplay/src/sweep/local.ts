import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
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

/** Options of a {@link Pool}. */
export interface PoolOptions {
  /** Processes at once, at least 1. */
  readonly jobs: number;
  /** Stops all of them in good order: each saves a checkpoint. */
  readonly signal: AbortSignal;
  /** Whether code of others may run: `--allow-code`. Default false */
  readonly allowsCode?: boolean;
}

/** What a worker is to do: a run by its name, and to which step if it isn't to be whole. */
export interface Assignment {
  readonly run: string;
  readonly envSteps?: number | undefined;
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

/** Flags of Node for that command line. By its name, tsx would be looked for from the present folder. */
const NODE_FLAGS = IS_SOURCE
  ? ['--conditions=@coplay/source', '--import', pathToFileURL(createRequire(HERE).resolve('tsx')).href]
  : [];

/** The words that start it in a process of its own. */
export const OWN_COMMAND: readonly string[] = [process.execPath, ...NODE_FLAGS, COMMAND_LINE];

/** Characters of what a worker writes that are kept, for the error of one that dies. */
const KEPT = 2000;

/**
 * Does runs of a sweep, as many at once as the pool has processes.
 *
 * @param waiting  the runs; emptied. The watcher may add runs when one ends
 */
export async function runLocally(
  directory: string,
  waiting: PlannedRun[],
  options: PoolOptions,
  watcher: Watcher,
): Promise<void> {
  const pool = new Pool(options);
  const work = async (run: PlannedRun) => {
    watcher.onStart(run);
    watcher.onEnd(run, await pool.perform(directory, run, (progress) => watcher.onProgress(run, progress)));
  };
  const atWork = new Set<Promise<void>>();
  const isWaiting = () => waiting.length > 0 && !options.signal.aborted;
  while (isWaiting() || atWork.size > 0) {
    while (isWaiting() && atWork.size < options.jobs) {
      const one = work(waiting.shift()!).finally(() => atWork.delete(one));
      atWork.add(one);
    }
    await Promise.race(atWork);
  }
  pool.end();
}

/**
 * Processes that do runs and stay for the next run of the same sweep: what a run compiles and loads is there for those
 * after it. A run whose process dies has failed, and a new process takes its place.
 */
export class Pool {
  private idle: Worker[] = [];

  constructor(private readonly options: PoolOptions) {}

  /** Resolves when the run has ended. At most `jobs` may be at work at once. */
  async perform(directory: string, run: PlannedRun, onProgress: (progress: RunProgress) => void): Promise<RunEnd> {
    const index = this.idle.findIndex((one) => one.directory === directory);
    const [worker = new Worker(directory, this.options)] = index < 0 ? [] : this.idle.splice(index, 1);
    const end = await worker.perform(run, onProgress);
    if (!worker.isAlive) writeEnd(directory, run, end as { readonly error: string });
    else this.idle.push(worker);
    // Those of other sweeps make room.
    while (this.idle.length > this.options.jobs) this.idle.shift()?.end();
    return end;
  }

  /** Ends all processes that aren't at work. */
  end(): void {
    for (const worker of this.idle) worker.end();
    this.idle = [];
  }
}

/** One process. */
class Worker {
  private readonly process: ChildProcess;
  private written = '';
  private listener: ((message: z.infer<typeof reply>) => void) | undefined;
  isAlive = true;

  constructor(
    readonly directory: string,
    { jobs, signal, allowsCode }: PoolOptions,
  ) {
    const threads = String(Math.max(1, Math.floor(availableParallelism() / jobs)));
    this.process = fork(COMMAND_LINE, ['worker', directory, ...(allowsCode ? ['--allow-code'] : [])], {
      ...(IS_SOURCE && { execArgv: NODE_FLAGS }),
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
  perform({ name, envSteps }: PlannedRun, onProgress: (progress: RunProgress) => void): Promise<RunEnd> {
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
      this.send({ run: name, envSteps });
    });
  }

  end(): void {
    this.send('end');
  }

  private send(message: 'stop' | 'end' | Assignment): void {
    if (this.process.connected) this.process.send(message);
  }
}
