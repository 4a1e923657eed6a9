import { afterEach, describe, expect, it, vi } from 'vitest';
import { otherThread } from './other-thread';
import type { Runtime } from './runtime';

type Listener = (given: unknown) => void;

/** What a thread was asked, by its first key, and how to speak for it. */
interface Told {
  readonly asked: string[];
  tell(event: string, given?: unknown): void;
}

const workers = vi.hoisted(() => ({ all: [] as Told[], canBegin: true }));

/** A thread that answers at once, and ends when it's asked to. */
class FakeWorker implements Told {
  readonly asked: string[] = [];
  private readonly listeners: Record<string, Listener> = {};

  constructor() {
    workers.all.push(this);
    if (!workers.canBegin) queueMicrotask(() => this.tell('error', new Error('it has no ONNX Runtime')));
  }

  on(event: string, listener: Listener): void {
    this.listeners[event] = listener;
  }

  tell(event: string, given?: unknown): void {
    this.listeners[event](given);
  }

  postMessage({ id, request }: { id: number; request: object }): void {
    if (!workers.canBegin) return;
    const [kind] = Object.keys(request);
    this.asked.push(kind);
    queueMicrotask(() => this.tell('message', { id, result: this.asked.length }));
    if (kind === 'end') setImmediate(() => this.tell('exit'));
  }

  ref(): void {}
  unref(): void {}
}

vi.mock('../environment', () => ({
  isNode: () => true,
  nodeModule: async (name: string) =>
    name === 'node:worker_threads' ? { Worker: FakeWorker } : { createRequire: () => ({ resolve: () => '' }) },
}));

afterEach(() => {
  workers.all.length = 0;
  workers.canBegin = true;
});

describe('another thread', () => {
  const here = { release: async () => undefined, run: async () => ({}) };
  const make = () =>
    ({ env: { versions: { node: '1' } }, InferenceSession: { create: async () => here } }) as unknown as Runtime;
  const model = new Uint8Array(1);

  it('begins with its first session and ends with its last one', async () => {
    const thread = otherThread(make(), 0)!;
    expect(workers.all).toHaveLength(0);
    const sessions = await Promise.all([1, 2].map(() => thread.InferenceSession.create(model, {})));
    await sessions[0].release();
    expect(workers.all.map(({ asked }) => asked)).toEqual([['isThere', 'make', 'make', 'release']]);
    await sessions[1].release();
    expect(workers.all[0].asked.slice(-2)).toEqual(['release', 'end']);
    await (await thread.InferenceSession.create(model, {})).release();
    expect(workers.all.map(({ asked }) => asked.at(-1))).toEqual(['end', 'end']);
  });

  it('is the same one for the same index', () => {
    const runtime = make();
    expect(otherThread(runtime, 0)).toBe(otherThread(runtime, 0));
    expect(otherThread(runtime, 1)).not.toBe(otherThread(runtime, 0));
  });

  it('begins again once it has ended by itself, and stays though the old one ends again', async () => {
    const thread = otherThread(make(), 0)!;
    const first = await thread.InferenceSession.create(model, {});
    workers.all[0].tell('error', new Error('out of memory'));
    const second = await thread.InferenceSession.create(model, {});
    workers.all[0].tell('exit'); // a worker that fails tells both
    await expect(first.release()).rejects.toThrow('out of memory');
    await thread.InferenceSession.create(model, {});
    expect(workers.all).toHaveLength(2);
    expect(workers.all[1].asked).toEqual(['isThere', 'make', 'make']);
    expect(second).not.toBe(first);
  });

  it('is replaced by this one where it does not begin', async () => {
    workers.canBegin = false;
    const thread = otherThread(make(), 0)!;
    expect(await thread.InferenceSession.create(model, {})).toBe(here);
    expect(await thread.InferenceSession.create(model, {})).toBe(here);
    expect(workers.all).toHaveLength(1);
  });
});
