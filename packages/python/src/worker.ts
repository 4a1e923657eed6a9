import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { CoplayError, fail } from '@coplay/core';

/*
 * A process of Python and the frames that it exchanges with this one; worker/coplay_worker.py is the other side.
 *
 * This process writes and reads through two named pipes, and blocks while it waits: a step of a batch is synchronous,
 * as steps of other games are. No pipe can be full on both sides: Python answers only after it has read a request, and
 * this process reads no answer before it has written all of its requests. Only these two processes hold the ends of the
 * pipes, so each sees when the other has ended, however it ended.
 */

/** This module: `__filename` in the CommonJS build, `import.meta.url` in the other. */
const HERE: string = typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url);
const SCRIPT = join(dirname(dirname(HERE)), 'worker/coplay_worker.py');

/** Requests, as the script numbers them. */
export const OP = { describe: 1, make: 2, reset: 3, step: 4, drop: 5, end: 6 } as const;

/** How a worker is started. */
export interface WorkerSettings {
  /** The function that an error names */
  readonly where: string;
  /** A program, or the folder of a virtual environment */
  readonly python: string;
  /** Seconds for one answer */
  readonly timeout: number;
  /** Receives what Python prints. */
  readonly output: (text: string) => void;
}

/** Characters of what Python printed that an error may repeat. */
const MOST_REPEATED = 8000;
/** Bytes of printed text after which the file that holds it is emptied. */
const LONG_LOG = 2 ** 20;
/** Milliseconds that environments get to close. */
const CLOSING_MS = 5000;

/** One process of Python. All its functions block until Python has answered, or has ended. */
export class PythonWorker {
  private readonly child: ChildProcess;
  private readonly requests: number;
  private readonly answers: number;
  /** The file that Python prints to; it has no name. */
  private readonly log: number;
  private logRead = 0;
  private printed = '';
  private readonly header = new Uint32Array(2);
  private isEnded = false;

  constructor(
    private readonly settings: WorkerSettings,
    private readonly watch: Watch,
  ) {
    const pipes = openPipes(settings.where);
    const { requests, answers, log, theirs } = pipes;
    [this.requests, this.answers, this.log] = [requests, answers, log];
    const threads = Object.fromEntries(THREADS.map((name) => [name, '1']));
    try {
      this.child = spawn(programOf(settings.python), ['-u', SCRIPT], {
        stdio: ['ignore', log, log, ...theirs],
        env: { ...threads, PYGAME_HIDE_SUPPORT_PROMPT: '1', ...process.env },
        detached: true, // a group of its own: Ctrl-C doesn't reach it, and it can be ended with what it has started
      });
    } finally {
      for (const file of theirs) closeSync(file);
    }
    this.child.on('error', () => undefined); // told below
    this.child.unref();
    if (this.child.pid === undefined) {
      this.release();
      const remedy =
        'Install Python 3.9 or later, and name it by the variable PYTHON or the option python: a program, or the ' +
        'folder of a virtual environment.';
      fail(settings.where, 'a Python that can be run', `no program ${settings.python}`, remedy);
    }
  }

  /** Writes a request: `op, batch, length` and bytes. */
  send(op: number, batch: number, payload: Uint8Array): void {
    const head = Uint32Array.of(op, batch, payload.length);
    const frame = new Uint8Array(head.byteLength + payload.length);
    frame.set(new Uint8Array(head.buffer));
    frame.set(payload, head.byteLength);
    try {
      for (let done = 0; done < frame.length; ) done += writeSync(this.requests, frame, done);
    } catch {
      this.fail(); // Python has closed its end
    }
  }

  /**
   * Reads an answer.
   *
   * @param targets  what the bytes are read into, one after the other; fewer may come
   * @returns bytes read
   */
  receiveInto(targets: readonly Uint8Array[]): number {
    const length = this.receiveLength();
    let left = length;
    for (const target of targets) {
      const size = Math.min(left, target.length);
      this.read(target, size);
      left -= size;
    }
    if (left > 0) this.fail();
    return length;
  }

  /** Reads an answer of JSON. */
  receiveJson(): unknown {
    return JSON.parse(this.receiveText(this.receiveLength()));
  }

  /** Ends the process politely: environments are closed first. */
  end(): void {
    if (this.isEnded) return;
    try {
      this.watch.during(this.pid, CLOSING_MS, () => {
        this.send(OP.end, 0, new Uint8Array());
        const rest = new Uint8Array(1);
        while (readSome(this.answers, rest, 0, 1) > 0);
      });
    } catch {
      // It has ended already.
    }
    this.kill();
    this.release();
  }

  /** Ends the process and those that it has started, at once. */
  kill(): void {
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }

  /** Passes on what Python has printed. */
  flush(): void {
    const { size } = fstatSync(this.log);
    if (size === this.logRead) return;
    const bytes = Buffer.alloc(size - this.logRead);
    const count = readSync(this.log, bytes, 0, bytes.length, this.logRead);
    this.logRead += count;
    const text = bytes.toString('utf8', 0, count);
    this.printed = (this.printed + text).slice(-MOST_REPEATED);
    if (size > LONG_LOG) {
      ftruncateSync(this.log);
      this.logRead = 0;
    }
    this.settings.output(text);
  }

  private get pid(): number {
    return this.child.pid as number;
  }

  private receiveLength(): number {
    this.read(new Uint8Array(this.header.buffer), 8);
    const [status, length] = this.header;
    this.flush();
    if (status === 0) return length;
    throw failureOf(this.settings.where, JSON.parse(this.receiveText(length)) as Failure);
  }

  private receiveText(length: number): string {
    const bytes = Buffer.alloc(length);
    this.read(bytes, length);
    return bytes.toString('utf8');
  }

  private read(target: Uint8Array, size: number): void {
    const limit = this.settings.timeout * 1000;
    const isWhole = this.watch.during(this.pid, limit, () => {
      for (let done = 0; done < size; ) {
        const count = readSome(this.answers, target, done, size - done);
        if (count === 0) return false;
        done += count;
      }
      return true;
    });
    if (!isWhole) this.fail();
  }

  /** Tells how Python has ended. */
  private fail(): never {
    const { where, timeout } = this.settings;
    const isLate = this.watch.hasEnded(this.pid);
    this.kill();
    if (!this.isEnded) this.flush();
    const said = this.printed.trim();
    const got = isLate ? `none for ${timeout} s; it was ended` : 'the end of the process';
    const slow = isLate ? 'If a step may take longer, raise the option timeout. ' : '';
    const text = said === '' ? 'It printed nothing: it may have been killed, such as for want of memory.' : said;
    fail(where, `an answer of the Python process ${this.pid}`, got, `${slow}It said:\n${text}`);
  }

  private release(): void {
    if (this.isEnded) return;
    this.flush();
    this.isEnded = true;
    for (const file of [this.requests, this.answers, this.log]) closeSync(file);
  }
}

/** Libraries that would start threads for each worker; the workers fill the cores themselves. */
const THREADS = ['OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'];

/** A failure that the script tells. */
type Failure =
  | { readonly kind: 'refused'; readonly expected: string; readonly got: string; readonly remedy: string }
  | { readonly kind: 'raised'; readonly type: string; readonly message: string; readonly traceback: string };

function failureOf(where: string, failure: Failure): CoplayError {
  if (failure.kind === 'refused') return new CoplayError({ where, ...failure });
  const { type, message, traceback } = failure;
  const remedy = `Mend it in Python:\n${traceback.trim()}`;
  return new CoplayError({ where, expected: 'Python code that raises nothing', got: `${type}: ${message}`, remedy });
}

/** The program of a virtual environment's folder. */
function programOf(python: string): string {
  const isFolder = statSync(python, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder ? join(python, 'bin/python') : python;
}

/** Two pipes and a file to print to, all without a name by now: nothing of them is left when both processes end. */
function openPipes(where: string) {
  const folder = mkdtempSync(join(tmpdir(), 'coplay-python-'));
  const [requests, answers, log] = ['requests', 'answers', 'log'].map((name) => join(folder, name));
  try {
    if (spawnSync('mkfifo', ['-m', '600', requests, answers]).status !== 0) {
      const remedy = 'Run it on Linux or macOS; on Windows in WSL.';
      fail(where, 'a system with named pipes', `none: mkfifo could not make them in ${folder}`, remedy);
    }
    // A pipe's end waits until its other end is opened, unless it is opened for both.
    const both = [openSync(requests, constants.O_RDWR), openSync(answers, constants.O_RDWR)];
    const theirs = [openSync(requests, constants.O_RDONLY), openSync(answers, constants.O_WRONLY)];
    const ours = [openSync(requests, constants.O_WRONLY), openSync(answers, constants.O_RDONLY)];
    for (const file of both) closeSync(file);
    return { requests: ours[0], answers: ours[1], log: openSync(log, 'a+'), theirs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads at least one byte; 0 at the end. */
function readSome(file: number, target: Uint8Array, at: number, size: number): number {
  for (;;) {
    try {
      return readSync(file, target, at, size, null);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EINTR') throw error;
    }
  }
}

/**
 * Ends a process that doesn't answer in time, while the main thread waits for it. First the process is told to print
 * where it is (`faulthandler` of Python), a second later it is killed.
 */
export class Watch {
  private readonly memory = new SharedArrayBuffer(32);
  /** Nanoseconds, as `hrtime` counts them, of the present deadline, 0 for none; of the deadline that was missed */
  private readonly times = new BigInt64Array(this.memory, 0, 2);
  /** The process that is waited for; the one that was ended; 1 once the thread shall end */
  private readonly words = new Int32Array(this.memory, 16, 3);
  private readonly thread: Worker;

  constructor() {
    // Without this process's own arguments, which may say that programs are ES modules.
    this.thread = new Worker(WATCH, { eval: true, execArgv: [], workerData: this.memory });
    this.thread.unref();
  }

  /** Does something that waits for a process. */
  during<Result>(pid: number, milliseconds: number, wait: () => Result): Result {
    this.words[0] = pid;
    Atomics.store(this.times, 0, process.hrtime.bigint() + BigInt(Math.ceil(milliseconds)) * 1_000_000n);
    try {
      return wait();
    } finally {
      Atomics.store(this.times, 0, 0n);
    }
  }

  /** Whether a process was ended because it was late. */
  hasEnded(pid: number): boolean {
    return Atomics.load(this.words, 1) === pid;
  }

  end(): void {
    Atomics.store(this.words, 2, 1);
    Atomics.notify(this.words, 2);
  }
}

/** The thread's program. It's text, so that it survives every bundler. */
const WATCH = `
  const { workerData } = require('node:worker_threads');
  const times = new BigInt64Array(workerData, 0, 2);
  const words = new Int32Array(workerData, 16, 3);
  const send = (pid, signal) => { try { process.kill(pid, signal); } catch {} };
  while (Atomics.wait(words, 2, 0, 100) === 'timed-out') {
    const due = Atomics.load(times, 0);
    if (due === 0n || process.hrtime.bigint() < due) continue;
    const pid = words[0];
    if (times[1] !== due) {
      times[1] = due;
      send(pid, 'SIGUSR1');
    } else if (process.hrtime.bigint() >= due + 1_000_000_000n) {
      Atomics.store(words, 1, pid);
      send(-pid, 'SIGKILL');
    }
  }
`;
