import { fail, type NamedArrays, type NDArray, ndarray, type SavedState, show } from '@coplay/core';
import { copyRow, sizeOf } from '@coplay/core/arrays';
import { checkArgument, checkNumbers, namedArrays, typedArrays } from '@coplay/core/checks';
import { allocateRows, checkRowSpec, gatherRows, type RowSpec, rowCount, rowSpecOf } from '@coplay/core/rows';
import { z } from 'zod';

/** What {@link EpisodeRing.state} gives. */
interface SavedRing {
  readonly pushed: EpisodeRing['pushed'];
  readonly lengths: NDArray<Int32Array>;
  readonly rows: NamedArrays;
}

const counted = z.int().min(0);
const savedSchema = z.looseObject({
  pushed: z.looseObject({ rows: counted, episodes: counted }),
  lengths: z.looseObject({ data: typedArrays('int32') }),
  rows: namedArrays,
});

/** A ring of whole episodes: with memory of its own (of rows), or of histories in a store. */
export interface Ring<Episodes> {
  /** Rows and episodes pushed so far. */
  readonly pushed: { readonly rows: number; readonly episodes: number };
  /** [R, ...] for each field; {} where R is 0 */
  readonly columns: NamedArrays;
  /** R */
  readonly tableRows: number;
  /** Lengths of the episodes that are held, oldest first. */
  readonly lengths: readonly number[];
  /** Numbers of the episodes that are held, counted from the first one that was pushed. */
  readonly serials: readonly number[];
  /** Rows that are held. */
  readonly size: number;
  push(episodes: Episodes): void;
  /** Places of all rows held in `columns`, oldest first. */
  places(): Int32Array;
  clear(): void;
  /** The rows held, for files. */
  rows(): NamedArrays;
  state(): SavedState;
}

/** A ring of rows in which whole episodes come and go: the oldest ones make room for new ones. */
export class EpisodeRing implements Ring<NamedArrays> {
  /** Rows and episodes pushed so far. */
  readonly pushed = { rows: 0, episodes: 0 };
  /** [capacity, ...] for each field; memory is taken with the first push. */
  columns: NamedArrays = {};
  /** Lengths of the episodes that are held, oldest first. */
  lengths: number[] = [];
  /** Rows that are held. */
  size = 0;
  private spec: RowSpec | undefined;

  constructor(
    private readonly where: string,
    private readonly capacity: number,
  ) {}

  /** Rows of `columns`. */
  get tableRows(): number {
    return Object.keys(this.columns).length > 0 ? this.capacity : 0;
  }

  /** Copies episodes in; each begins where `isFirst` is 1. */
  push(rows: NamedArrays): void {
    const count = rowCount(this.where, rows);
    this.spec ??= rowSpecOf(rows);
    checkRowSpec(this.where, this.spec, rows);
    if (count === 0) return;
    if (Object.keys(this.columns).length === 0) this.columns = allocateRows(this.spec, this.capacity);
    const starts = startsOf(rows['isFirst'].data);
    starts.forEach((start, i) => {
      this.pushEpisode(rows, start, (starts[i + 1] ?? count) - start);
    });
  }

  /** Places of all rows held in `columns`, oldest first. */
  places(): Int32Array {
    const oldest = this.pushed.rows - this.size;
    return Int32Array.from({ length: this.size }, (_, i) => (oldest + i) % this.capacity);
  }

  /** Numbers of the episodes that are held, counted from the first one that was pushed. */
  get serials(): readonly number[] {
    const oldest = this.pushed.episodes - this.lengths.length;
    return this.lengths.map((_, i) => oldest + i);
  }

  clear(): void {
    this.lengths = [];
    this.size = 0;
  }

  /** The rows held, for files. */
  rows(): NamedArrays {
    return this.size > 0 ? gatherRows(this.columns, this.places()) : {};
  }

  state(): SavedState {
    return { pushed: { ...this.pushed }, lengths: ndarray(Int32Array.from(this.lengths)), rows: this.rows() };
  }

  restore(saved: SavedState): void {
    const { pushed, lengths, rows } = this.checkState(saved);
    const held = lengths.data.reduce((sum, length) => sum + length, 0);
    const spec = held > 0 ? rowSpecOf(rows) : undefined;
    this.columns = spec ? allocateRows(spec, this.capacity) : {}; // throws where memory is too small
    this.spec = spec;
    this.clear();
    // Places follow from the number of rows pushed, so that a restored ring goes on as the saved one.
    Object.assign(this.pushed, { rows: pushed.rows - held, episodes: pushed.episodes - lengths.data.length });
    if (held > 0) this.push(rows);
  }

  private checkState(saved: SavedState): SavedRing {
    const where = `${this.where}: restore`;
    checkArgument(where, 'saved', savedSchema, saved);
    const { pushed, lengths, rows } = saved as unknown as SavedRing;
    checkNumbers(where, 'saved.lengths.data', lengths.data, { min: 1 });
    const held = lengths.data.reduce((sum, length) => sum + length, 0);
    if (held > this.capacity) {
      fail(
        `${where}: saved.lengths`,
        `at most ${this.capacity} rows`,
        show(held),
        'Restore into one of that capacity.',
      );
    }
    const remedy = 'Give what state() returned.';
    const count = Object.keys(rows).length > 0 ? rowCount(`${where}: saved.rows`, rows) : 0;
    if (count !== held) fail(`${where}: saved.rows`, `${held} rows, as lengths say`, show(count), remedy);
    if (pushed.rows < held || pushed.episodes < lengths.data.length) {
      const expected = `at least ${held} rows of ${lengths.data.length} episodes, which are held`;
      fail(`${where}: saved.pushed`, expected, show(pushed), remedy);
    }
    if (this.spec && held > 0) checkRowSpec(`${where}: saved.rows`, this.spec, rows);
    const found = held > 0 ? lengthsOf(rows, held) : [];
    if (found.join() !== Array.from(lengths.data).join()) {
      fail(`${where}: saved.rows.isFirst`, `episodes of ${show(lengths.data)} steps`, show(found), remedy);
    }
    return { pushed, lengths, rows };
  }

  private pushEpisode(rows: NamedArrays, start: number, length: number): void {
    if (length > this.capacity) {
      const remedy = 'Give the buffer a capacity of many episodes.';
      fail(this.where, `episodes of at most ${this.capacity} steps, the capacity`, show(length), remedy);
    }
    while (this.size + length > this.capacity) this.size -= this.lengths.shift() ?? 0;
    for (const name in rows) {
      const size = sizeOf(rows[name].shape.slice(1));
      for (let i = 0; i < length; i++) {
        copyRow(rows[name].data, start + i, this.columns[name].data, (this.pushed.rows + i) % this.capacity, size);
      }
    }
    this.lengths.push(length);
    this.size += length;
    this.pushed.rows += length;
    this.pushed.episodes++;
  }
}

function startsOf(isFirst: ArrayLike<number>): number[] {
  const starts: number[] = [];
  for (let row = 0; row < isFirst.length; row++) if (isFirst[row] === 1) starts.push(row);
  return starts;
}

/** Lengths of the episodes in so many rows; none where rows don't say where episodes begin. */
function lengthsOf({ isFirst }: NamedArrays, count: number): number[] {
  const starts = isFirst ? startsOf(isFirst.data) : [];
  return starts.map((start, i) => (starts[i + 1] ?? count) - start);
}
