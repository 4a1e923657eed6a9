import { isNode, nodeModule } from '../environment';
import type { Runtime, RuntimeSession, RuntimeTensor } from './runtime';

/** This module: `__filename` in the CommonJS build, `import.meta.url` in the other. */
const HERE: string = typeof __filename === 'string' ? __filename : import.meta.url;

/** What a thread is asked: whether it's there; to make a session, to run one, to release one. */
type Request =
  | { readonly isThere: true }
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

/** What the thread runs. It's text, so that it survives every bundler; `workerData` is where onnxruntime-node lies. */
const SCRIPT = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { InferenceSession, Tensor } = require(workerData);
  const sessions = [];
  const pack = ({ type, data, dims }) => ({ type, data, dims });
  const answer = async ({ isThere, make, options, run, feeds, names, release }) => {
    if (isThere) return true;
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

const threads = new Map<number, Promise<Runtime | undefined>>();

/**
 * ONNX Runtime in another thread of the process, whose sessions run while this one does something else; what they're fed and
 * what they give is copied. A thread is begun when it's first asked for, and doesn't keep the process alive.
 *
 * @param index  which thread, from 0
 * @returns undefined where there can't be any, as in browsers, or where ONNX Runtime doesn't load there
 */
export function otherThread(runtime: Runtime, index: number): Promise<Runtime | undefined> {
  if (!isNode() || runtime.env?.versions?.node === undefined) return Promise.resolve(undefined);
  const forget = () => threads.delete(index); // one that has ended is begun anew
  const known = threads.get(index) ?? begin(runtime, forget).catch(() => undefined);
  threads.set(index, known);
  return known;
}

async function begin(runtime: Runtime, onEnd: () => void): Promise<Runtime> {
  const { createRequire } = await nodeModule<{ createRequire(from: string): NodeJS.Require }>('node:module');
  const { Worker } = await nodeModule<{ Worker: new (code: string, options: object) => Thread }>('node:worker_threads');
  const workerData = createRequire(HERE).resolve(['onnxruntime', 'node'].join('-'));
  let hasBegun = false;
  const ask = asker(new Worker(SCRIPT, { eval: true, workerData, execArgv: [] }), () => {
    if (hasBegun) onEnd(); // where it can't begin, it won't the next time
  });
  await ask({ isThere: true }); // it has loaded its own ONNX Runtime then
  hasBegun = true;
  return {
    Tensor: runtime.Tensor,
    InferenceSession: {
      async create(model, options) {
        const session = (await ask({ make: model, options })) as number;
        return sessionOf(runtime, session, ask);
      },
    },
  };
}

type Ask = (request: Request, moved?: readonly unknown[]) => Promise<unknown>;

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
    if (ended) return; // a failure is told twice, as `error` and as `exit`
    ended = error;
    for (const { reject } of open.values()) reject(error);
    open.clear();
    onEnd();
  };
  thread.on('error', end);
  thread.on('exit', () => end(new Error('a thread of ONNX Runtime ended')));
  return (request, moved = []) =>
    new Promise((resolve, reject) => {
      if (ended) return reject(ended);
      const id = count++;
      thread.postMessage({ id, request }, moved); // what can't be sent throws, and nothing is waited for
      open.set(id, { resolve, reject });
      thread.ref();
    });
}

function sessionOf(runtime: Runtime, session: number, ask: Ask): RuntimeSession {
  return {
    async run(feeds, fetches) {
      const packed = Object.entries(feeds).map(([name, tensor]) => [name, copyOf(tensor)] as const);
      const moved = packed.map(([, { data }]) => data.buffer);
      const request = { run: session, feeds: Object.fromEntries(packed), names: Object.keys(fetches) };
      const found = (await ask(request, moved)) as Readonly<Record<string, Packed>>;
      return Object.fromEntries(Object.entries(found).map(([name, got]) => [name, put(runtime, got, fetches[name])]));
    },
    async release() {
      await ask({ release: session });
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
