import { fail, type NamedArrays, type SavedState, show } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { checkArgument, checkNumbers, namedArrays, typedArrays } from '@coplay/core/checks';
import {
  allocateRows,
  checkRowSpec,
  gatherInto,
  type RowSpec,
  rowCount,
  rowSpecOf,
  sliceRows,
} from '@coplay/core/rows';
import { z } from 'zod';

const savedSchema = z.looseObject({ lengths: typedArrays('int32'), rows: namedArrays });

/** The newest histories, whole, in a ring of steps whose memory is taken once. */
export class HistoryRing {
  /** Steps ever written; step k lies at place k modulo the capacity. */
  private written = 0;
  private lengths: number[] = [];
  private fields: NamedArrays = {};
  private spec: RowSpec | undefined;
  size = 0;

  constructor(
    private readonly where: string,
    private readonly capacity: number,
  ) {}

  get histories(): number {
    return this.lengths.length;
  }

  /**
   * Copies a history to the end.
   *
   * @returns how many of the oldest made room for it
   */
  push(rows: NamedArrays): number {
    const count = rowCount(this.where, rows);
    if (count > this.capacity) {
      const remedy = 'Give the buffer at least the capacity of a longest episode.';
      fail(this.where, `histories of at most ${this.capacity} steps`, show(count), remedy);
    }
    this.spec ??= rowSpecOf(rows);
    checkRowSpec(this.where, this.spec, rows);
    if (Object.keys(this.fields).length === 0) this.fields = allocateRows(this.spec, this.capacity);
    let dropped = 0;
    while (this.size + count > this.capacity) {
      this.size -= this.lengths.shift() as number;
      dropped++;
    }
    this.write(rows, count);
    this.lengths.push(count);
    this.size += count;
    return dropped;
  }

  /** [histories + 1] where each begins among the steps held, and where the last one ends. */
  offsets(): Int32Array {
    const offsets = new Int32Array(this.lengths.length + 1);
    this.lengths.forEach((length, i) => {
      offsets[i + 1] = offsets[i] + length;
    });
    return offsets;
  }

  /** The steps at these places, counted from the oldest that's held. */
  rows(places: ArrayLike<number>): NamedArrays {
    const first = this.written - this.size;
    const rows = allocateRows(this.spec ?? {}, places.length);
    gatherInto(
      rows,
      0,
      this.fields,
      Array.from(places, (place) => (first + place) % this.capacity),
    );
    return rows;
  }

  clear(): void {
    this.size = 0;
    this.lengths = [];
  }

  state(): SavedState {
    const all = Array.from({ length: this.size }, (_, place) => place);
    return { lengths: Int32Array.from(this.lengths), rows: this.size > 0 ? this.rows(all) : {} };
  }

  restore(saved: SavedState): void {
    const where = `${this.where}.restore`;
    checkArgument(where, 'saved', savedSchema, saved);
    const { lengths, rows } = saved as { lengths: Int32Array; rows: NamedArrays };
    const count = Object.keys(rows).length === 0 ? 0 : rowCount(where, rows);
    checkNumbers(where, 'saved.lengths', lengths, { min: 1 });
    const total = lengths.reduce((sum, length) => sum + length, 0);
    if (total > this.capacity) {
      const remedy = 'Restore into a buffer of the same capacity.';
      fail(this.where, `at most ${this.capacity} steps`, show(total), remedy);
    }
    if (count !== total) fail(where, `${total} rows, as lengths say`, show(count), 'Give what state() returned.');
    if (this.spec && total > 0) checkRowSpec(`${where}: saved.rows`, this.spec, rows);
    const spec = total === 0 ? undefined : rowSpecOf(rows);
    this.fields = spec ? allocateRows(spec, this.capacity) : {}; // throws where memory is too small
    this.spec = spec;
    this.clear();
    this.written = 0;
    let start = 0;
    for (const length of lengths) {
      this.push(sliceRows(rows, start, start + length));
      start += length;
    }
  }

  /** Copies rows behind the newest step; around the seam in two runs. */
  private write(rows: NamedArrays, count: number): void {
    const place = this.written % this.capacity;
    const run = Math.min(count, this.capacity - place);
    for (const name in rows) {
      const { data, shape } = rows[name];
      const width = sizeOf(shape.slice(1));
      const target = this.fields[name].data;
      target.set(data.subarray(0, run * width), place * width);
      target.set(data.subarray(run * width), 0);
    }
    this.written += count;
  }
}
