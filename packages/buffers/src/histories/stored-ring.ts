import { fail, type NamedArrays, type SavedState, show } from '@coplay/core';
import { checkArgument, typedArrays } from '@coplay/core/checks';
import { allocateRows, checkRowSpec, gatherInto, rowSpecOf } from '@coplay/core/rows';
import { z } from 'zod';
import { type HistoryView, viewOfStored } from './histories';
import { type FindHistory, type History, lengthOf } from './store';

const savedSchema = z.looseObject({ serials: typedArrays('int32') });

/** The newest histories of a store, as a `HistoryRing` holds them; the steps themselves stay in the store. */
export class StoredRing {
  private entries: History[] = [];
  size = 0;

  constructor(
    private readonly where: string,
    private readonly settings: HistoryView & { readonly capacity: number },
  ) {}

  get histories(): number {
    return this.entries.length;
  }

  held(): readonly History[] {
    return this.entries;
  }

  /** @returns how many of the oldest made room for it */
  push(history: History): number {
    const { capacity } = this.settings;
    const count = lengthOf(history);
    if (count > capacity) {
      const remedy = 'Give the buffer at least the capacity of a longest episode.';
      fail(this.where, `histories of at most ${capacity} steps`, show(count), remedy);
    }
    let dropped = 0;
    while (this.size + count > capacity) {
      this.size -= lengthOf(this.entries.shift() as History);
      dropped++;
    }
    this.entries.push(history);
    this.size += count;
    return dropped;
  }

  /** [histories + 1] where each begins among the steps held, and where the last one ends. */
  offsets(): Int32Array {
    const offsets = new Int32Array(this.entries.length + 1);
    this.entries.forEach((history, i) => {
      offsets[i + 1] = offsets[i] + lengthOf(history);
    });
    return offsets;
  }

  /** Copies of the steps at these places, counted from the oldest that's held. */
  rows(places: ArrayLike<number>): NamedArrays {
    const views = this.entries.map(({ columns, seat }) => viewOfStored(columns, seat, this.settings));
    if (views.length === 0) return {};
    const steps = this.entries.flatMap((history, entry) => {
      return Array.from({ length: lengthOf(history) }, (_, step) => ({ entry, step }));
    });
    const rows = allocateRows(rowSpecOf(views[0]), places.length);
    for (let i = 0; i < places.length; i++) {
      const { entry, step } = steps[places[i]];
      gatherInto(rows, i, views[entry], [step]);
    }
    return rows;
  }

  clear(): void {
    this.entries = [];
    this.size = 0;
  }

  state(): SavedState {
    return { serials: Int32Array.from(this.entries, ({ serial }) => serial) };
  }

  /** Reads a saved state. @returns a function that takes it over */
  read(saved: SavedState, find: FindHistory): () => void {
    const where = `${this.where}.restore`;
    checkArgument(where, 'saved', savedSchema, saved);
    const entries = Array.from(saved['serials'] as Int32Array, find);
    const total = entries.reduce((sum, history) => sum + lengthOf(history), 0);
    const { capacity } = this.settings;
    if (total > capacity) {
      fail(where, `at most ${capacity} steps`, show(total), 'Restore into a buffer of the same capacity.');
    }
    for (const { columns } of entries) checkRowSpec(where, rowSpecOf(entries[0].columns), columns);
    return () => {
      this.entries = entries;
      this.size = total;
    };
  }
}
