import { fail, type NamedArrays, ndarray, type SavedState, show } from '@coplay/core';
import { checkArgument, checkNumbers, typedArrays } from '@coplay/core/checks';
import { concatRows, padRows, sliceRows } from '@coplay/core/rows';
import { z } from 'zod';
import { rotated } from '../histories/histories';
import { type FindHistory, type History, lengthOf } from '../histories/store';
import type { Ring } from './episode-ring';

/** The first steps of a history, and the goal of each: [length] in -1..G-1. */
export interface LabelledHistory {
  readonly history: History;
  readonly goals: Int32Array;
}

/** An episode that is held; its rows are views of the history's wherever they can be. */
interface Entry extends LabelledHistory {
  readonly rows: NamedArrays;
}

const counted = z.int().min(0);
const savedSchema = z.looseObject({
  pushed: z.looseObject({ rows: counted, episodes: counted }),
  ...{ serials: typedArrays('int32'), lengths: typedArrays('int32'), goals: typedArrays('int32') },
});

/** The newest episodes of one co-player, as an `EpisodeRing` holds them; the steps themselves stay in a store. */
export class StoredEpisodes implements Ring<LabelledHistory> {
  /** Rows and episodes pushed so far. */
  readonly pushed = { rows: 0, episodes: 0 };
  /** Rows that are held. */
  size = 0;
  private entries: Entry[] = [];

  /** @param goalCount  G; undefined where it isn't known */
  constructor(
    private readonly where: string,
    private readonly capacity: number,
    private readonly goalCount: number | undefined,
  ) {}

  /** [capacity, ...] copies of the rows held, then zeros; {} where none is held. */
  get columns(): NamedArrays {
    return this.size > 0 ? padRows(this.rows(), this.capacity) : {};
  }

  /** Rows of `columns`. */
  get tableRows(): number {
    return this.size > 0 ? this.capacity : 0;
  }

  get lengths(): number[] {
    return this.entries.map(({ goals }) => goals.length);
  }

  /** Numbers of the episodes that are held, counted from the first one that was pushed. */
  get serials(): readonly number[] {
    const oldest = this.pushed.episodes - this.entries.length;
    return this.entries.map((_, i) => oldest + i);
  }

  /** Places of all rows held in `columns`, oldest first. */
  places(): Int32Array {
    return Int32Array.from({ length: this.size }, (_, place) => place);
  }

  held(): readonly History[] {
    return this.entries.map(({ history }) => history);
  }

  push(entry: LabelledHistory): void {
    const { length } = entry.goals;
    if (length > this.capacity) {
      const remedy = 'Give the buffer a capacity of many episodes.';
      fail(this.where, `episodes of at most ${this.capacity} steps, the capacity`, show(length), remedy);
    }
    while (this.size + length > this.capacity) this.size -= this.entries.shift()?.goals.length ?? 0;
    this.entries.push({ ...entry, rows: moaColumns(entry) });
    this.size += length;
    this.pushed.rows += length;
    this.pushed.episodes++;
  }

  clear(): void {
    this.entries = [];
    this.size = 0;
  }

  /** The rows held, as `moaRows` makes them. */
  rows(): NamedArrays {
    return this.size > 0 ? concatRows(this.entries.map(({ rows }) => rows)) : {};
  }

  state(): SavedState {
    return {
      pushed: { ...this.pushed },
      serials: Int32Array.from(this.entries, ({ history }) => history.serial),
      lengths: Int32Array.from(this.lengths),
      goals: Int32Array.from(this.entries.flatMap(({ goals }) => [...goals])),
    };
  }

  /** Reads a saved state. @returns a function that takes it over */
  read(saved: SavedState, find: FindHistory): () => void {
    const where = `${this.where}: restore`;
    checkArgument(where, 'saved', savedSchema, saved);
    const { pushed, serials, lengths, goals } = saved as unknown as SavedEpisodes;
    const total = lengths.reduce((sum, length) => sum + length, 0);
    checkNumbers(where, 'saved.lengths', lengths, { length: serials.length, min: 1 });
    const { goalCount } = this;
    const range = { min: -1, ...(goalCount !== undefined && { max: goalCount - 1 }) };
    checkNumbers(where, 'saved.goals', goals, { length: total, ...range });
    if (total > this.capacity || pushed.rows < total || pushed.episodes < lengths.length) {
      const expected = `at most ${this.capacity} rows, of those pushed`;
      fail(`${where}: saved.lengths`, expected, show(total), 'Restore into a buffer of the same capacity.');
    }
    let start = 0;
    const entries = Array.from(serials, find).map((history, i) => {
      if (lengths[i] > lengthOf(history)) {
        const expected = `at most ${lengthOf(history)} steps of history ${history.serial}`;
        fail(`${where}: saved.lengths`, expected, show(lengths[i]), 'Give what state() returned.');
      }
      const own = goals.slice(start, start + lengths[i]);
      start += lengths[i];
      return { history, goals: own, rows: moaColumns({ history, goals: own }) };
    });
    return () => {
      this.entries = entries;
      this.size = total;
      Object.assign(this.pushed, { rows: pushed.rows, episodes: pushed.episodes });
    };
  }
}

/** What {@link StoredEpisodes.state} gives. */
interface SavedEpisodes {
  readonly pushed: StoredEpisodes['pushed'];
  readonly serials: Int32Array;
  readonly lengths: Int32Array;
  readonly goals: Int32Array;
}

/** The columns of `moaRows` of one episode. */
function moaColumns({ history: { columns, seat }, goals }: LabelledHistory): NamedArrays {
  const { length } = goals;
  const { previousActions, masks, actions, left, ...others } = sliceRows(columns, 0, length);
  const agents = previousActions.shape[1];
  const seen = Object.entries(others).filter(([name]) => name.startsWith('observations/'));
  const isFirst = new Uint8Array(length);
  isFirst[0] = 1;
  return {
    active: ndarray(new Uint8Array(length).fill(1)),
    ...Object.fromEntries(seen),
    ...{ masks, previousActions: rotated(previousActions, agents - seat), actions, terminated: left },
    ...{ isFirst: ndarray(isFirst), goals: ndarray(goals) },
  };
}
