import { checkOptions, fail, type Generator, type NamedArrays, type SavedState, show } from '@coplay/core';
import { copyRow, sizeOf } from '@coplay/core/arrays';
import { checkArgument, checkCount, checkGenerator, checkNumber, namedArrays, typedArrays } from '@coplay/core/checks';
import { allocateRows, checkRowSpec, type RowSpec, rowCount, rowSpecOf } from '@coplay/core/rows';
import { z } from 'zod';
import { checkState } from './check-state';
import { heldSteps } from './ring-state';

/** Options of {@link createReplayBuffer}. */
export interface ReplayOptions {
  /** Steps held at most, all streams together; each stream may hold its share, rounded down */
  readonly capacity: number;
  /** S, the number of streams: one for each environment, so that windows don't mix them. Default 1 */
  readonly streams?: number | undefined;
}

/** What {@link ReplayBuffer.sample} draws. */
export interface ReplaySampleOptions {
  /** B, the number of windows; at least 1 */
  readonly batch: number;
  /** L, consecutive steps in a window; 1 (default) for single transitions */
  readonly length?: number | undefined;
}

/** Where windows begin. */
export interface ReplayPlaces {
  /** [B] the stream of each window */
  readonly streams: Int32Array;
  /** [B] the number of its first step, counted from the first that was ever pushed to the stream */
  readonly steps: Float64Array;
}

/** Windows of steps. */
export interface ReplaySample extends ReplayPlaces {
  /** [B, L, ...] for each field */
  readonly rows: NamedArrays;
}

/**
 * A ring of the newest steps of each stream. Its memory is taken in whole with the first push: capacity times the bytes
 * of a step.
 */
export interface ReplayBuffer {
  /** Steps held now, over all streams. */
  readonly size: number;
  /** [S] steps pushed so far to each stream. */
  readonly pushed: Float64Array;
  /**
   * Copies steps to the end of a stream; the oldest ones make room.
   *
   * @param rows    [T, ...] for each field, in order of time; they follow the last ones that were pushed to the stream
   * @param stream  in 0..S-1; default 0
   */
  push(rows: NamedArrays, stream?: number): void;
  /** Number of different windows of `length` steps that can be drawn now. */
  windows(length: number): number;
  /**
   * Draws windows, each with the same chance, with replacement. A window lies within the held steps of one stream; it
   * may span episodes.
   *
   * @throws CoplayError where no window is that long
   */
  sample(generator: Generator, options: ReplaySampleOptions): ReplaySample;
  /** Where `sample` would draw, without copying anything. */
  draw(generator: Generator, batch: number, length: number): ReplayPlaces;
  /**
   * Windows at given places.
   *
   * @param windows [B] streams and first steps
   * @throws CoplayError where a step isn't held
   */
  gather(windows: ReplayPlaces, length: number): ReplaySample;
  /** Whether all steps of a window are held. @throws CoplayError for anything but whole numbers */
  holds(stream: number, step: number, length: number): boolean;
  /**
   * Replaces some fields of steps that were pushed before; steps already evicted or not yet pushed are skipped.
   *
   * @param windows [B] streams and first steps
   * @param rows    [B, L, ...] for each of these fields
   */
  overwrite(windows: ReplayPlaces, rows: NamedArrays): void;
  /** Steps and counters. */
  state(): SavedState;
  restore(saved: SavedState): void;
}

const optionsSchema = z.strictObject({ capacity: z.int().min(1), streams: z.int().min(1).default(1) });
const sampleSchema = z.strictObject({ batch: z.int().min(1), length: z.int().min(1).default(1) });

const placesSchema = z.looseObject({ streams: typedArrays('int32'), steps: typedArrays('float64') });

function checkPlaces(where: string, name: string, places: ReplayPlaces): void {
  checkArgument(where, name, placesSchema, places);
  const { streams, steps } = places;
  if (streams.length === steps.length) return;
  fail(
    `${where}: ${name}`,
    'a step for each stream',
    `${streams.length} and ${steps.length}`,
    'Give places of sample().',
  );
}

/** An empty ring. */
export function createReplayBuffer(options: ReplayOptions): ReplayBuffer {
  const { capacity, streams } = checkOptions('createReplayBuffer', optionsSchema, options);
  if (capacity < streams) {
    const expected = `a capacity of at least ${streams}, one step for each stream`;
    fail('createReplayBuffer', expected, show(capacity), 'Give more capacity or fewer streams.');
  }
  return new Rings(Math.floor(capacity / streams), streams);
}

/** Step k of a stream is at place k modulo the ring's size. */
class Rings implements ReplayBuffer {
  readonly pushed: Float64Array;
  /** [S] the number of the first step that each stream ever had: above 0 where a file gave no older ones. */
  private readonly begun: Float64Array;
  private fields: NamedArrays = {};
  private spec: RowSpec | undefined;

  constructor(
    private readonly ring: number,
    private readonly streams: number,
  ) {
    this.pushed = new Float64Array(streams);
    this.begun = new Float64Array(streams);
  }

  get size(): number {
    return this.pushed.reduce((sum, _, stream) => sum + this.held(stream), 0);
  }

  push(rows: NamedArrays, stream = 0): void {
    const count = rowCount('replayBuffer.push', rows);
    this.checkStream(stream);
    this.spec ??= rowSpecOf(rows);
    checkRowSpec('replayBuffer.push', this.spec, rows);
    if (Object.keys(this.fields).length === 0) this.fields = allocateRows(this.spec, this.ring * this.streams);
    const kept = Math.min(count, this.ring);
    this.pushed[stream] += count - kept;
    this.write(rows, count - kept, kept, stream);
    this.pushed[stream] += kept;
  }

  windows(length: number): number {
    checkNumber('replayBuffer.windows', 'length', length, { min: 1, whole: true });
    return this.pushed.reduce((sum, _, stream) => sum + Math.max(0, this.held(stream) - length + 1), 0);
  }

  sample(generator: Generator, options: ReplaySampleOptions): ReplaySample {
    checkGenerator('replayBuffer.sample', generator);
    const { batch, length } = checkOptions('replayBuffer.sample', sampleSchema, options);
    return this.gather(this.draw(generator, batch, length), length);
  }

  draw(generator: Generator, batch: number, length: number): ReplayPlaces {
    checkGenerator('replayBuffer.draw', generator);
    checkCount('replayBuffer.draw', 'batch', batch);
    checkCount('replayBuffer.draw', 'length', length, 1);
    const windows = this.windows(length);
    if (windows === 0) {
      const longest = Math.max(...this.pushed.map((_, stream) => this.held(stream)));
      const remedy = 'Push more steps first, or draw shorter windows.';
      fail('replayBuffer.sample', `a stream of at least ${length} steps`, `at most ${longest}`, remedy);
    }
    const places = { streams: new Int32Array(batch), steps: new Float64Array(batch) };
    for (let b = 0; b < batch; b++) {
      [places.streams[b], places.steps[b]] = this.windowAt(generator.integer(windows), length);
    }
    return places;
  }

  gather(windows: ReplayPlaces, length: number): ReplaySample {
    checkPlaces('replayBuffer.gather', 'windows', windows);
    checkCount('replayBuffer.gather', 'length', length, 1);
    const { streams, steps } = windows;
    const batch = streams.length;
    const rows: NamedArrays = {};
    for (const [name, { data, shape }] of Object.entries(allocateRows(this.spec ?? {}, batch * length))) {
      rows[name] = { data, shape: [batch, length, ...shape.slice(1)] };
    }
    for (let b = 0; b < batch; b++) {
      if (!this.isHeld(streams[b], steps[b], length)) this.refuseWindow(streams[b], steps[b], length);
      this.read(streams[b], steps[b], length, rows, b * length);
    }
    return { rows, streams, steps };
  }

  holds(stream: number, step: number, length: number): boolean {
    checkCount('replayBuffer.holds', 'stream', stream);
    checkNumber('replayBuffer.holds', 'step', step, { whole: true });
    checkCount('replayBuffer.holds', 'length', length, 1);
    return this.isHeld(stream, step, length);
  }

  private isHeld(stream: number, step: number, length: number): boolean {
    const pushed = this.pushed[stream] ?? 0;
    return step >= pushed - this.held(stream) && step + length <= pushed;
  }

  overwrite(windows: ReplayPlaces, rows: NamedArrays): void {
    checkPlaces('replayBuffer.overwrite', 'windows', windows);
    checkArgument('replayBuffer.overwrite', 'rows', namedArrays, rows);
    const { streams, steps } = windows;
    for (const [name, { data, shape }] of Object.entries(rows)) {
      const target = this.fields[name] ?? fail('replayBuffer.overwrite', 'a field that was pushed', name, 'Rename it.');
      const size = sizeOf(target.shape.slice(1));
      const length = shape[1];
      if (data.length !== streams.length * length * size) {
        const expected = `${name} of shape [${[streams.length, length, ...target.shape.slice(1)]}]`;
        fail('replayBuffer.overwrite', expected, `[${shape}]`, 'Give a row for each step of each window.');
      }
      for (let row = 0; row < streams.length * length; row++) {
        const stream = streams[Math.floor(row / length)];
        const step = steps[Math.floor(row / length)] + (row % length);
        if (!this.isHeld(stream, step, 1)) continue;
        copyRow(data, row, target.data, stream * this.ring + (step % this.ring), size);
      }
    }
  }

  state(): SavedState {
    const rows = this.size > 0 ? allocateRows(this.spec ?? {}, this.size) : {};
    let start = 0;
    for (let stream = 0; stream < this.streams; stream++) {
      const held = this.held(stream);
      this.read(stream, this.pushed[stream] - held, held, rows, start);
      start += held;
    }
    return { pushed: this.pushed.slice(), begun: this.begun.slice(), ring: this.ring, rows };
  }

  restore(saved: SavedState): void {
    const { pushed, begun, rows } = checkState(saved, this.streams, this.ring);
    const [first] = Object.values(rows);
    const spec = first && first.shape[0] > 0 ? rowSpecOf(rows) : undefined;
    if (spec && this.spec) checkRowSpec('replayBuffer.restore: saved.rows', this.spec, rows);
    this.fields = spec ? allocateRows(spec, this.ring * this.streams) : {}; // throws where memory is too small
    this.spec = spec;
    this.pushed.set(pushed);
    this.begun.set(begun ?? new Float64Array(this.streams));
    let start = 0;
    for (let stream = 0; stream < this.streams; stream++) {
      const held = this.held(stream);
      this.pushed[stream] -= held;
      this.write(rows, start, held, stream);
      this.pushed[stream] += held;
      start += held;
    }
  }

  private held(stream: number): number {
    return heldSteps(this.pushed[stream], this.begun[stream], this.ring);
  }

  /** The stream and first step of the i-th window. */
  private windowAt(index: number, length: number): [stream: number, step: number] {
    let left = index;
    for (let stream = 0; ; stream++) {
      const held = this.held(stream);
      const windows = Math.max(0, held - length + 1);
      if (left < windows) return [stream, this.pushed[stream] - held + left];
      left -= windows;
    }
  }

  /** Copies `count` rows from `start` on to the places that follow the stream's last step. */
  private write(rows: NamedArrays, start: number, count: number, stream: number): void {
    this.eachRun(this.pushed[stream], count, (place, done, run) => {
      copyRun(rows, start + done, this.fields, stream * this.ring + place, run);
    });
  }

  /** Copies steps out of the ring to the rows of `target` from `start` on; [B, L, ...] counts as B L rows. */
  private read(stream: number, step: number, count: number, target: NamedArrays, start: number): void {
    this.eachRun(step, count, (place, done, run) => {
      copyRun(this.fields, stream * this.ring + place, target, start + done, run);
    });
  }

  /** The runs of neighbouring places that `count` steps from `step` on take up: one, or two around the seam. */
  private eachRun(step: number, count: number, visit: (place: number, done: number, run: number) => void): void {
    for (let done = 0; done < count; ) {
      const place = (step + done) % this.ring;
      const run = Math.min(count - done, this.ring - place);
      visit(place, done, run);
      done += run;
    }
  }

  private refuseWindow(stream: number, step: number, length: number): never {
    const expected = `windows of ${length} steps that are held`;
    fail(
      'replayBuffer.gather',
      expected,
      `step ${step} of stream ${stream}`,
      'Take places of sample(), before the next push.',
    );
  }

  private checkStream(stream: number): void {
    if (Number.isInteger(stream) && stream >= 0 && stream < this.streams) return;
    const expected = `a stream from 0 to ${this.streams - 1}`;
    fail('replayBuffer.push', expected, show(stream), 'Give the environment that the steps come from.');
  }
}

/** Copies `count` rows of every field of `source`. */
function copyRun(source: NamedArrays, from: number, target: NamedArrays, to: number, count: number): void {
  for (const name in source) {
    const { data, shape } = source[name];
    const size = sizeOf(shape.slice(1));
    target[name].data.set(data.subarray(from * size, (from + count) * size), to * size);
  }
}
