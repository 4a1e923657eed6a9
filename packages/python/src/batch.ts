import {
  type ActionSpaces,
  type AnyGame,
  type ExternalBatch,
  type ExternalEnvs,
  fail,
  type TypedArray,
} from '@coplay/core';
import { actionLayout, sizeOf } from '@coplay/core/arrays';
import { OP } from './worker';
import { jsonBytes, type Workers } from './workers';

/** Arrays of this process that belong to one worker's environments, and their places in its answers. */
interface Block {
  readonly target: TypedArray;
  /** The first value in the target */
  readonly at: number;
  readonly source: TypedArray;
}

/** A worker's share of a batch. */
interface Share {
  /** Its environments are `start` to `start + count - 1`. */
  readonly start: number;
  readonly count: number;
  /** An answer: what is written in each step */
  readonly now: Uint8Array;
  /** Rewards, ends and infos */
  readonly outcome: readonly Block[];
  /** Active agents, masks, observations */
  readonly view: readonly Block[];
  /** What follows where an episode has ended: the last masks and observations */
  readonly final: Uint8Array;
  readonly finalView: readonly Block[];
  /** A request: seeds [n] and actions [n, A, W] */
  readonly request: Uint8Array;
  readonly seeds: Uint32Array;
  readonly actions: Int32Array | Float32Array;
}

/** Environments that are spread over the workers of a game: each plays some that follow one another. */
export class PythonBatch implements ExternalEnvs<ActionSpaces> {
  private readonly number: number;
  private readonly shares: readonly Share[];

  constructor(
    game: AnyGame,
    batch: ExternalBatch,
    private readonly workers: Workers,
  ) {
    this.number = workers.nextBatch();
    const count = Math.min(workers.count, batch.envs);
    const bounds = Array.from({ length: count + 1 }, (_, i) => Math.floor((i * batch.envs) / count));
    this.shares = bounds.slice(1).map((end, i) => shareOf(game, batch, bounds[i], end - bounds[i]));
    const requests = this.shares.map((share) => jsonBytes({ envs: share.count }));
    workers.ask(OP.make, this.number, requests, (worker, i) => {
      const { bytes, finalBytes } = worker.receiveJson() as { bytes: number; finalBytes: number };
      const { now, final } = this.shares[i];
      if (bytes === now.length && finalBytes === final.length) return;
      const expected = `arrays of ${now.length} and ${final.length} bytes from Python`;
      fail(game.name, expected, `${bytes} and ${finalBytes}`, "Leave the game's observation and actions as they are.");
    });
  }

  reset(chosen: readonly number[], seeds: Uint32Array): void {
    const payloads = this.shares.map(({ start, count }) => {
      const own = chosen.filter((env) => env >= start && env < start + count).map((env) => env - start);
      return own.length === 0 ? undefined : bytesOf(Uint32Array.of(...seeds.subarray(start, start + count), ...own));
    });
    this.workers.ask(OP.reset, this.number, payloads, (worker, i) => {
      const { now, view } = this.shares[i];
      worker.receiveInto([now]);
      copyBlocks(view);
    });
  }

  step(actions: Int32Array | Float32Array, seeds: Uint32Array): void {
    const payloads = this.shares.map((share) => {
      const { start, count, request } = share;
      const each = share.actions.length / count;
      share.seeds.set(seeds.subarray(start, start + count));
      share.actions.set(actions.subarray(start * each, (start + count) * each));
      return request;
    });
    this.workers.ask(OP.step, this.number, payloads, (worker, i) => {
      const { now, final, outcome, view, finalView } = this.shares[i];
      const length = worker.receiveInto([now, final]);
      copyBlocks(outcome);
      copyBlocks(view);
      if (length > now.length) copyBlocks(finalView);
    });
  }

  close(): void {
    if (this.workers.hasEnded) return;
    const nothing = this.shares.map(() => new Uint8Array());
    this.workers.ask(OP.drop, this.number, nothing, (worker) => worker.receiveInto([]));
  }
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

function copyBlocks(blocks: readonly Block[]): void {
  for (const { target, at, source } of blocks) target.set(source, at);
}

/** Lays out a worker's arrays as `Batch` of worker/coplay_worker.py does: in this order. */
function shareOf(game: AnyGame, batch: ExternalBatch, start: number, count: number): Share {
  const { spaces, width, maskSize, dtype } = actionLayout(game);
  const agents = spaces.length;
  const { rewards, terminated, truncated, infos } = batch.result;
  const slice = (target: TypedArray, size: number): Slice => ({ target, at: start * size, length: count * size });
  const view = (masks: Uint8Array, fields: ExternalBatch['observations']) => [
    slice(masks, agents * maskSize),
    ...Object.entries(game.observation).map(([name, { shape }]) => slice(fields[name], agents * sizeOf(shape))),
  ];
  const outcome = [
    ...[rewards, terminated, truncated].map((target) => slice(target, agents)),
    slice(batch.ended, 1),
    ...game.infos.map((name) => slice(infos[name], agents)),
  ];
  const present = [slice(batch.active, agents), ...view(batch.masks, batch.observations)];
  const now = laidOut([...outcome, ...present]);
  const final = laidOut(view(batch.finalMasks, batch.finalObservations));
  const request = new Uint8Array(4 * count * (1 + agents * width));
  const values = [request.buffer, 4 * count, count * agents * width] as const;
  return {
    ...{ start, count, request },
    now: now.bytes,
    outcome: now.blocks.slice(0, outcome.length),
    view: now.blocks.slice(outcome.length),
    final: final.bytes,
    finalView: final.blocks,
    seeds: new Uint32Array(request.buffer, 0, count),
    actions: dtype === 'int32' ? new Int32Array(...values) : new Float32Array(...values),
  };
}

/** Values of an array that come from one worker. */
interface Slice {
  readonly target: TypedArray;
  readonly at: number;
  readonly length: number;
}

/** One buffer for all slices; each begins at a multiple of 8 bytes, as the elements of every type may. */
function laidOut(slices: readonly Slice[]): { readonly bytes: Uint8Array; readonly blocks: readonly Block[] } {
  let end = 0;
  const places = slices.map(({ target, length }) => {
    const place = end;
    end += Math.ceil((length * target.BYTES_PER_ELEMENT) / 8) * 8;
    return place;
  });
  const buffer = new ArrayBuffer(end);
  const blocks = slices.map(({ target, at, length }, i) => {
    const Values = target.constructor as new (buffer: ArrayBuffer, place: number, length: number) => TypedArray;
    return { target, at, source: new Values(buffer, places[i], length) };
  });
  return { bytes: new Uint8Array(buffer), blocks };
}
