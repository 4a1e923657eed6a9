import { checkOptions, fail, type Generator, type NamedArrays, type SavedState, show } from '@coplay/core';
import { checkArgument, checkCount, checkGenerator, restorePart, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import { createReplayBuffer, type ReplayBuffer, type ReplayPlaces, type ReplaySample } from './replay-buffer';
import type { RingState } from './ring-state';

/** Options of {@link createSequenceReplay}. */
export interface SequenceReplayOptions {
  /** Steps held at most, all streams together; at least L for each */
  readonly capacity: number;
  /** S, the number of streams: one for each agent of each environment. Default 1 */
  readonly streams?: number | undefined;
  /** L, steps of a window, at least 1 */
  readonly length: number;
  /**
   * Whether each stream's windows, one after the other without overlap, are handed out once, in the order in which they
   * were filled, before any is drawn at random: new steps are soon learned from, and at least once. Default true
   */
  readonly online?: boolean | undefined;
}

/** The sampled windows, and how they were drawn. */
export interface SequenceSample extends ReplaySample {
  /** Windows at the front that came from the queue of new ones. */
  readonly fresh: number;
}

/** DreamerV3's replay (Hafner et al. 2023): windows of recorded streams, new ones first. */
export interface SequenceReplay {
  /** Steps held now. */
  readonly size: number;
  /** Number of different windows that can be drawn now. */
  readonly windows: number;
  /** Windows that were filled and not handed out yet. */
  readonly waiting: number;
  /**
   * Adds steps to the end of a stream; the oldest ones make room.
   *
   * @param rows [T, ...] for each field, in order of time
   */
  push(rows: NamedArrays, stream?: number): void;
  /**
   * B windows [B, L, ...]: from the queue as long as there are any, the others with equal chances.
   *
   * @throws CoplayError where no window is that long
   */
  sample(generator: Generator, batch: number): SequenceSample;
  /**
   * B windows [B, L, ...] with equal chances, the queue left as it is: to look at, not to learn from.
   *
   * @throws CoplayError where no window is that long
   */
  look(generator: Generator, batch: number): ReplaySample;
  /** Replaces some fields of held steps; see `ReplayBuffer.overwrite`. */
  overwrite(places: ReplayPlaces, rows: NamedArrays): void;
  /** Steps, counters and the queue; `saveReplay` writes it to files. */
  state(): SavedState;
  /**
   * Goes on from a saved state of the same capacity and streams. Windows that waited there wait here if they are of the
   * same length, and new ones are handed out here at all.
   */
  restore(saved: SavedState): void;
}

/** What {@link SequenceReplay.state} saves. */
export interface SequenceState {
  /** The steps. */
  readonly buffer: RingState;
  /** Windows that wait, stream and first step of each by turns */
  readonly queue: Float64Array;
  /** Steps of a window; unknown in a state that doesn't say it, and then taken for the same */
  readonly length?: number;
  /** Names of fields that `overwrite` has replaced; none where it's left out */
  readonly renewed?: readonly string[];
}

const savedSchema = z.looseObject({
  buffer: z.looseObject({}),
  queue: typedArrays('float64'),
  length: z.int().min(1).optional(),
  renewed: z.array(z.string()).optional(),
});
const schema = z.strictObject({
  capacity: z.int().min(1),
  streams: z.int().min(1).default(1),
  length: z.int().min(1),
  online: z.boolean().default(true),
});

/**
 * An empty one.
 *
 * @throws CoplayError where a stream's share of the capacity is shorter than a window: nothing could ever be drawn
 */
export function createSequenceReplay(options: SequenceReplayOptions): SequenceReplay {
  const { capacity, streams, length, online } = checkOptions('createSequenceReplay', schema, options);
  if (Math.floor(capacity / streams) < length) {
    const expected = `a capacity of at least ${streams * length}, ${length} steps for each of ${streams} streams`;
    fail('createSequenceReplay', expected, show(capacity), 'Give more capacity, fewer streams or shorter windows.');
  }
  return new Sequences(createReplayBuffer({ capacity, streams }), length, online);
}

class Sequences implements SequenceReplay {
  /** Windows that wait, as pairs of stream and first step. */
  private queue: [stream: number, step: number][] = [];
  private renewed = new Set<string>();

  constructor(
    private readonly buffer: ReplayBuffer,
    private readonly length: number,
    private readonly isOnline: boolean,
  ) {}

  get size(): number {
    return this.buffer.size;
  }

  get windows(): number {
    return this.buffer.windows(this.length);
  }

  get waiting(): number {
    this.dropGone();
    return this.queue.length;
  }

  push(rows: NamedArrays, stream = 0): void {
    const { length, buffer } = this;
    const before = Math.floor((buffer.pushed[stream] ?? 0) / length);
    buffer.push(rows, stream);
    if (!this.isOnline) return;
    const after = Math.floor(buffer.pushed[stream] / length);
    for (let window = before; window < after; window++) this.queue.push([stream, window * length]);
    if (after > before) this.dropGone();
  }

  sample(generator: Generator, batch: number): SequenceSample {
    checkGenerator('sequenceReplay.sample', generator);
    checkCount('sequenceReplay.sample', 'batch', batch, 1);
    const { buffer, length } = this;
    this.dropGone();
    const fresh = this.queue.splice(0, batch);
    const streams = new Int32Array(batch);
    const steps = new Float64Array(batch);
    fresh.forEach(([stream, step], b) => {
      streams[b] = stream;
      steps[b] = step;
    });
    if (fresh.length < batch) {
      const drawn = buffer.draw(generator, batch - fresh.length, length);
      streams.set(drawn.streams, fresh.length);
      steps.set(drawn.steps, fresh.length);
    }
    return { ...buffer.gather({ streams, steps }, length), fresh: fresh.length };
  }

  look(generator: Generator, batch: number): ReplaySample {
    checkGenerator('sequenceReplay.look', generator);
    checkCount('sequenceReplay.look', 'batch', batch, 1);
    return this.buffer.gather(this.buffer.draw(generator, batch, this.length), this.length);
  }

  overwrite(places: ReplayPlaces, rows: NamedArrays): void {
    this.buffer.overwrite(places, rows);
    for (const name in rows) this.renewed.add(name);
  }

  state(): SavedState {
    const { buffer, queue, length, renewed } = this;
    return { buffer: buffer.state(), queue: Float64Array.from(queue.flat()), length, renewed: [...renewed].sort() };
  }

  restore(saved: SavedState): void {
    checkArgument('sequenceReplay.restore', 'saved', savedSchema, saved);
    const { queue, length = this.length, renewed = [] } = saved as unknown as SequenceState;
    const state = saved['buffer'] as unknown as RingState;
    checkQueue(queue, this.buffer.pushed.length);
    // Rows without any field are refused by the buffer, which says how many steps they lack.
    const names = Object.keys(state.rows ?? {});
    const stranger = names.length > 0 ? renewed.find((name) => !names.includes(name)) : undefined;
    if (stranger !== undefined) {
      fail('sequenceReplay.restore: saved.renewed', 'fields of its rows', stranger, 'Give what state() returned.');
    }
    restorePart('sequenceReplay.restore: saved.buffer', () => this.buffer.restore(saved['buffer'] as SavedState));
    const waiting = this.isOnline && length === this.length ? queue.length / 2 : 0;
    this.queue = Array.from({ length: waiting }, (_, i) => [queue[2 * i], queue[2 * i + 1]]);
    this.renewed = new Set(renewed);
    this.dropGone();
  }

  /** Forgets windows of which a step has made room. */
  private dropGone(): void {
    this.queue = this.queue.filter(([stream, step]) => this.buffer.holds(stream, step, this.length));
  }
}

/**
 * Refuses windows that aren't pairs of a stream and a step. Steps may be gone: not every file of a replay can be read.
 */
function checkQueue(queue: Float64Array, streams: number): void {
  for (let at = 0; at < queue.length; at += 2) {
    const [stream, step] = [queue[at], queue[at + 1]];
    if (Number.isInteger(stream) && stream >= 0 && stream < streams && Number.isInteger(step) && step >= 0) continue;
    const got = show([stream, step]);
    const remedy = 'Give what state() returned.';
    fail('sequenceReplay.restore: saved.queue', `a stream and a step at index ${at}`, got, remedy);
  }
}
