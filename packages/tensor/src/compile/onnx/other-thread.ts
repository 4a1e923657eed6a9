import { isNode, nodeModule } from '../environment';
import type { Runtime, RuntimeSession, RuntimeTensor } from './runtime';

/** This module: `__filename` in the CommonJS build, `import.meta.url` in the other. */
const HERE: string = typeof __filename === 'string' ? __filename : import.meta.url;

/** Requests to a thread: to answer; to make, run or release a session; to end. */
type Request =
  | { readonly isThere: true }
  | { readonly end: true }
  | { readonly make: Uint8Array; readonly options: unknown }
  | { readonly run: number; readonly feeds: Readonly<Record<string, Packed>>; readonly names: readonly string[] }
  | { readonly release: number };

/** A tensor on its way: its numbers belong to the receiver. */
interface Packed {
  readonly type: string;
  readonly data: RuntimeTensor['data'];
  readonly dims: readonly number[];
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** A worker of Node, as far as we use it. */
interface Thread {
  postMessage(message: unknown, transferred?: readonly unknown[]): void;
  on(event: 'message', listener: (answer: Answer) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  on(event: 'exit', listener: () => void): void;
  ref(): void;
  unref(): void;
}

/** The thread's program. It's text, so that it survives every bundler; `workerData` is where onnxruntime-node lies. */
const SCRIPT = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { InferenceSession, Tensor } = require(workerData);
  const sessions = [];
  const pack = ({ type, data, dims }) => ({ type, data, dims });
  const answer = async ({ isThere, end, make, options, run, feeds, names, release }) => {
    if (isThere) return true;
    if (end) return parentPort.close();
    if (make) return sessions.push(await InferenceSession.create(make, options)) - 1;
    if (release !== undefined) {
      const session = sessions[release];
      sessions[release] = undefined;
      return session.release();
    }
    const tensors = Object.entries(feeds).map(([name, { type, data, dims }]) => [name, new Tensor(type, data, dims)]);
    const found = await sessions[run].run(Object.fromEntries(tensors), names);
    return Object.fromEntries(names.map((name) => [name, pack(found[name])]));
  };
  parentPort.on('message', async ({ id, request }) => {
    try {
      const result = await answer(request);
      const moved = request.feeds ? new Set(Object.values(result).map(({ data }) => data.buffer)) : [];
      parentPort.postMessage({ id, result }, [...moved]);
    } catch (error) {
      parentPort.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
    }
  });
`;

const runtimes = new WeakMap<Runtime, Map<number, Runtime>>();

/**
 * ONNX Runtime in another thread of the process, whose sessions run while this one does something else; their inputs
 * and outputs are copied. The thread is begun for its first session and ends with its last one; it doesn't keep the
 * process alive. Where it doesn't begin, sessions are made in this thread.
 *
 * @param index  which thread, from 0
 * @returns undefined where there can't be any, as in browsers
 */
export function otherThread(runtime: Runtime, index: number): Runtime | undefined {
  if (!isNode() || runtime.env?.versions?.node === undefined) return undefined;
  const known = runtimes.get(runtime) ?? new Map<number, Runtime>();
  runtimes.set(runtime, known);
  const found = known.get(index) ?? inThread(runtime);
  known.set(index, found);
  return found;
}

/** A thread, and how many sessions are in it or being made there. */
interface Begun {
  /** undefined where it doesn't begin, which is found once. */
  readonly ask: Promise<Ask | undefined>;
  sessions: number;
}

function inThread(runtime: Runtime): Runtime {
  let present: Begun | undefined;
  const begun = (): Begun => {
    const made: Begun = { ask: begin(() => forget(made)), sessions: 0 };
    return made;
  };
  const forget = (thread: Begun): void => {
    if (present === thread) present = undefined;
  };
  const leave = async (thread: Begun, ask: Ask): Promise<void> => {
    thread.sessions--;
    if (thread.sessions > 0) return;
    forget(thread);
    await ask({ end: true }).catch(() => undefined); // it may have ended by itself
    await ask.ended;
  };
  return {
    Tensor: runtime.Tensor,
    InferenceSession: {
      async create(model, options) {
        present ??= begun();
        const thread = present;
        thread.sessions++;
        const ask = await thread.ask;
        if (!ask) return runtime.InferenceSession.create(model, options);
        try {
          const session = (await ask({ make: model, options })) as number;
          return sessionOf(runtime, session, ask, () => leave(thread, ask));
        } catch (error) {
          await leave(thread, ask);
          throw error;
        }
      },
    },
  };
}

async function begin(onEnd: () => void): Promise<Ask | undefined> {
  try {
    const { createRequire } = await nodeModule<{ createRequire(from: string): NodeJS.Require }>('node:module');
    const { Worker } = await nodeModule<{ Worker: new (code: string, options: object) => Thread }>(
      'node:worker_threads',
    );
    const workerData = createRequire(HERE).resolve(['onnxruntime', 'node'].join('-'));
    let hasBegun = false;
    const ask = asker(new Worker(SCRIPT, { eval: true, workerData, execArgv: [] }), () => {
      if (hasBegun) onEnd(); // where it can't begin, it won't the next time
    });
    await ask({ isThere: true });
    hasBegun = true;
    return ask;
  } catch {
    return undefined;
  }
}

/** Sends a request to a thread. */
interface Ask {
  (request: Request, moved?: readonly unknown[]): Promise<unknown>;
  /** When the thread has ended. */
  readonly ended: Promise<void>;
}

/** Sends requests to a thread and hears its answers; as long as one is open, the process stays alive. */
function asker(thread: Thread, onEnd: () => void): Ask {
  const open = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  let count = 0;
  let ended: Error | undefined;
  thread.unref();
  thread.on('message', ({ id, result, error }) => {
    const asked = open.get(id)!;
    open.delete(id);
    if (open.size === 0) thread.unref();
    if (error === undefined) asked.resolve(result);
    else asked.reject(new Error(error));
  });
  const end = (error: Error): void => {
    if (ended) return; // a failure is reported twice, as `error` and as `exit`
    ended = error;
    for (const { reject } of open.values()) reject(error);
    open.clear();
    onEnd();
  };
  thread.on('error', end);
  const exit = new Promise<void>((resolve) => {
    thread.on('exit', () => {
      end(new Error('a thread of ONNX Runtime ended'));
      resolve();
    });
  });
  const ask = (request: Request, moved: readonly unknown[] = []): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (ended) return reject(ended);
      const id = count++;
      thread.postMessage({ id, request }, moved); // throws for data that can't be sent; then nothing is waited for
      open.set(id, { resolve, reject });
      thread.ref();
    });
  return Object.assign(ask, { ended: exit });
}

function sessionOf(runtime: Runtime, session: number, ask: Ask, leave: () => Promise<void>): RuntimeSession {
  return {
    async run(feeds, fetches) {
      const packed = Object.entries(feeds).map(([name, tensor]) => [name, copyOf(tensor)] as const);
      const moved = packed.map(([, { data }]) => data.buffer);
      const request = { run: session, feeds: Object.fromEntries(packed), names: Object.keys(fetches) };
      const found = (await ask(request, moved)) as Readonly<Record<string, Packed>>;
      return Object.fromEntries(Object.entries(found).map(([name, got]) => [name, put(runtime, got, fetches[name])]));
    },
    async release() {
      await ask({ release: session }).finally(leave);
    },
  };
}

function copyOf({ type, data, dims }: RuntimeTensor): Packed {
  return { type, data: data.slice(), dims: [...dims] };
}

/** Into the memory where the result is wanted, if it's given. */
function put(runtime: Runtime, { type, data, dims }: Packed, target: RuntimeTensor | null): RuntimeTensor {
  if (!target) return new runtime.Tensor(type, data as Float32Array, dims);
  (target.data as Float32Array).set(data as Float32Array);
  return target;
}
