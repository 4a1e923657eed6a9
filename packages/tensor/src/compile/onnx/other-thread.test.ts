import { afterEach, describe, expect, it, vi } from 'vitest';
import { otherThread } from './other-thread';
import type { Runtime } from './runtime';

type Listener = (given: unknown) => void;

const workers = vi.hoisted(() => [] as { tell(event: string, given?: unknown): void }[]);

/** A thread that is there as soon as it is asked. */
class FakeWorker {
  private readonly listeners: Record<string, Listener> = {};

  constructor() {
    workers.push(this);
  }

  on(event: string, listener: Listener): void {
    this.listeners[event] = listener;
  }

  tell(event: string, given?: unknown): void {
    this.listeners[event](given);
  }

  postMessage({ id }: { id: number }): void {
    queueMicrotask(() => this.tell('message', { id, result: true }));
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
  workers.length = 0;
});

describe('another thread', () => {
  const runtime = { env: { versions: { node: '1' } } } as unknown as Runtime;

  it('is begun anew once it has ended, and stays though the old one ends again', async () => {
    const first = await otherThread(runtime, 0);
    expect(await otherThread(runtime, 0)).toBe(first);
    workers[0].tell('error', new Error('out of memory'));
    const second = await otherThread(runtime, 0);
    expect(second).not.toBe(first);
    workers[0].tell('exit'); // a worker that fails tells both
    expect(await otherThread(runtime, 0)).toBe(second);
    expect(workers).toHaveLength(2);
  });
});
