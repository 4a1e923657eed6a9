import { type NamedArrays, ndarray, type SavedState } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { allocateRows, checkRowSpec, gatherInto, type RowSpec, rowCount, rowSpecOf } from '@coplay/core/rows';

/** Rows of one kind, held in arrays that grow by doubling and are kept when the store is cleared. */
export class RowStore {
  /** Rows held. */
  length = 0;
  private capacity = 0;
  private fields: NamedArrays = {};
  /** The format of a row; fixed by the first rows. */
  spec: RowSpec | undefined;

  constructor(private readonly where: string) {}

  /** Copies rows to the end. */
  append(rows: NamedArrays): void {
    const count = rowCount(this.where, rows);
    this.spec ??= rowSpecOf(rows);
    checkRowSpec(this.where, this.spec, rows);
    if (count === 0) return;
    this.reserve(this.length + count, this.spec);
    for (const name in rows) {
      const { data, shape } = rows[name];
      this.fields[name].data.set(data, this.length * sizeOf(shape.slice(1)));
    }
    this.length += count;
  }

  /** Copies the rows at `indices` into `target` from row `start` on. */
  gatherInto(target: NamedArrays, start: number, indices: ArrayLike<number>): void {
    gatherInto(target, start, this.fields, indices);
  }

  /** Copies all rows held into `target` from row `start` on. */
  copyInto(target: NamedArrays, start: number): void {
    for (const name in target) {
      if (this.length === 0) return;
      const { data, shape } = this.fields[name];
      const width = sizeOf(shape.slice(1));
      target[name].data.set(data.subarray(0, this.length * width) as Float32Array, start * width);
    }
  }

  clear(): void {
    this.length = 0;
  }

  /** The rows held, as a copy. */
  state(): SavedState {
    const rows: Record<string, NamedArrays[string]> = {};
    if (this.length === 0) return rows;
    for (const name in this.fields) {
      const { data, shape } = this.fields[name];
      const width = sizeOf(shape.slice(1));
      rows[name] = ndarray(data.slice(0, this.length * width), [this.length, ...shape.slice(1)]);
    }
    return rows;
  }

  restore(saved: SavedState): void {
    const rows = saved as NamedArrays;
    const count = Object.keys(rows).length > 0 ? rowCount(this.where, rows) : 0;
    this.capacity = 0;
    this.length = 0;
    this.fields = {};
    this.spec = undefined;
    if (count > 0) this.append(rows);
  }

  private reserve(rows: number, spec: RowSpec): void {
    if (rows <= this.capacity) return;
    this.capacity = Math.max(rows, 2 * this.capacity);
    const larger = allocateRows(spec, this.capacity);
    for (const name in this.fields) larger[name].data.set(this.fields[name].data);
    this.fields = larger;
  }
}
