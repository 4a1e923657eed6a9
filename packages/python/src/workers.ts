import { CoplayError, fail } from '@coplay/core';
import { atProcessEnd } from '@coplay/core/node';
import { OP, PythonWorker, Watch } from './worker';

/** The processes of one game. When one fails, all end: what they know of the game can't be had again. */
export class Workers {
  private readonly watch = new Watch();
  private readonly all: PythonWorker[] = [];
  private readonly takeBack = atProcessEnd(() => this.kill());
  private failure: unknown;
  private isEnded = false;
  private batches = 0;

  constructor(
    count: number,
    private readonly where: string,
    settings: { readonly python: string; readonly timeout: number; readonly output: (text: string) => void },
  ) {
    this.guarded(() => {
      for (let i = 0; i < count; i++) this.all.push(new PythonWorker({ where, ...settings }, this.watch));
    });
  }

  get count(): number {
    return this.all.length;
  }

  /** Sends all workers the request for the game; returns the first one's description of it. */
  describe<Description>(request: (worker: number) => unknown): Description {
    return this.guarded(() => {
      this.all.forEach((worker, i) => void worker.send(OP.describe, 0, jsonBytes(request(i))));
      const [first] = this.all.map((worker) => worker.receiveJson());
      return first as Description;
    });
  }

  /** A number for a batch that no other has. */
  nextBatch(): number {
    return ++this.batches;
  }

  /**
   * Sends requests to some workers, all before the first answer is read.
   *
   * @param payloads  by worker; undefined for those that have nothing to do
   */
  ask(
    op: number,
    batch: number,
    payloads: readonly (Uint8Array | undefined)[],
    read: (worker: PythonWorker, i: number) => void,
  ): void {
    if (this.isEnded) this.refuse();
    this.guarded(() => {
      for (const [i, payload] of payloads.entries()) if (payload) this.all[i].send(op, batch, payload);
      for (const [i, payload] of payloads.entries()) if (payload) read(this.all[i], i);
    });
  }

  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.takeBack();
    for (const worker of this.all) worker.end();
    this.watch.end();
  }

  private kill(): void {
    for (const worker of this.all) worker.kill();
  }

  get hasEnded(): boolean {
    return this.isEnded;
  }

  /** Ends all processes where something fails. */
  private guarded<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      this.failure = error;
      this.kill();
      this.end();
      throw error;
    }
  }

  private refuse(): never {
    const before = this.failure instanceof CoplayError ? `ended by an error: ${this.failure.complaint.got}` : 'closed';
    fail(this.where, 'a game whose Python runs', `one that was ${before}`, 'Make the game again.');
  }
}

/** A request of JSON. */
export function jsonBytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
