import { copyRow, fail, type NamedArrays, ndarray, type SavedState, show, sizeOf } from '@coplay/core';
import { allocateRows, checkRowSpec, gatherRows, type RowSpec, rowCount, rowSpecOf } from '../rows/rows';

/** A ring of rows in which whole episodes come and go: the oldest ones make room for new ones. */
export class EpisodeRing {
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
    const rows = this.spec ? gatherRows(this.columns, this.places()) : {};
    const empty = this.spec && this.size === 0 ? allocateRows(this.spec, 0) : rows;
    return { pushed: { ...this.pushed }, lengths: ndarray(Int32Array.from(this.lengths)), rows: empty };
  }

  restore(saved: SavedState): void {
    const { pushed, lengths, rows } = saved as unknown as {
      pushed: EpisodeRing['pushed'];
      lengths: { data: Int32Array };
      rows: NamedArrays;
    };
    this.spec = undefined;
    this.columns = {};
    this.clear();
    const held = lengths.data.reduce((sum, length) => sum + length, 0);
    if (held > this.capacity) {
      fail(`${this.where}: restore`, `at most ${this.capacity} rows`, show(held), 'Restore into one of that capacity.');
    }
    // Places follow from the number of rows pushed, so that a restored ring goes on as the saved one.
    Object.assign(this.pushed, { rows: pushed.rows - held, episodes: pushed.episodes - lengths.data.length });
    if (Object.keys(rows).length > 0) this.push(rows);
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
