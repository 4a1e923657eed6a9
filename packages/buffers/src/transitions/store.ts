import { checkOptions, fail, type Generator, type NamedArrays, type SavedState, show } from '@coplay/core';
import {
  checkArgument,
  checkCount,
  checkGenerator,
  checkNumbers,
  checkText,
  namedArrays,
  typedArrays,
} from '@coplay/core/checks';
import {
  allocateRows,
  checkRowSpec,
  gatherInto,
  gatherRows,
  type RowSpec,
  rowCount,
  rowSpecOf,
} from '@coplay/core/rows';
import { z } from 'zod';
import { loadNpz, saveNpz } from '../npz';

/** Options of {@link createTransitionStore}. */
export interface TransitionStoreOptions {
  /** Transitions held at most, at least 1; then new ones take the place of the oldest */
  readonly capacity: number;
  /** N, members of an ensemble that learn from it, each from rows of its own. Default 1 */
  readonly members?: number | undefined;
}

/**
 * A ring of transitions for models of the world. Its memory is taken in whole with the first push: capacity times the
 * bytes of a transition.
 *
 * Each member of an ensemble learns from a bootstrap of the rows (Chua et al. 2018): how often it has a row is drawn
 * from Poisson(1) when the row is pushed, and stays so for as long as the row is held. A single member has each row
 * once, and so has one who got no row at all.
 */
export interface TransitionStore {
  /** Transitions held now. */
  readonly size: number;
  /** Transitions pushed so far. */
  readonly pushed: number;
  readonly capacity: number;
  /**
   * Copies transitions to the end.
   *
   * @param rows       named arrays [B, ...], as `gridTransitions` or `observationTransitions` give them
   * @param generator  for the members' shares; a single member needs none
   * @throws CoplayError for fields, dtypes or shapes unlike those before, and for several members without a generator
   */
  push(rows: NamedArrays, generator?: Generator): void;
  /** The places that a member learns from, one as often as it has the row; the caller's to keep. */
  placesOf(member: number): Int32Array;
  /**
   * Draws places of a member's rows, each with the same chance, with replacement.
   *
   * @throws CoplayError where there are no rows
   */
  sample(generator: Generator, count: number, member?: number): Int32Array;
  /** The transitions at these places, as copies [count, ...]. */
  gather(places: ArrayLike<number>): NamedArrays;
  /** All transitions held, the oldest first, as copies. */
  rows(): NamedArrays;
  /** Writes all transitions held as a .npz file, one array for each field. Node only. */
  save(path: string): Promise<void>;
  /** Transitions, shares and counters. */
  state(): SavedState;
  restore(saved: SavedState): void;
}

const schema = z.strictObject({ capacity: z.int().min(1), members: z.int().min(1).default(1) });

/** An empty store. */
export function createTransitionStore(options: TransitionStoreOptions): TransitionStore {
  const { capacity, members } = checkOptions('createTransitionStore', schema, options);
  return new Ring(capacity, members);
}

/** Transitions that {@link TransitionStore.save} wrote, or anyone's arrays [B, ...] of equal length. Node only. */
export async function loadTransitions(path: string): Promise<NamedArrays> {
  checkText('loadTransitions', 'path', path);
  const rows = await loadNpz(path);
  rowCount(`loadTransitions(${path})`, rows);
  return rows;
}

const savedSchema = z.looseObject({
  pushed: z.int().min(0),
  capacity: z.number(),
  members: z.number(),
  rows: namedArrays,
  shares: typedArrays('uint8'),
});

/** Transition k is at place k modulo the capacity. */
class Ring implements TransitionStore {
  pushed = 0;
  private fields: NamedArrays = {};
  private spec: RowSpec | undefined;
  /** [capacity, N] how often each member has the row. */
  private shares: Uint8Array;
  /** By member, made when it's asked for. */
  private places: (Int32Array | undefined)[] = [];

  constructor(
    readonly capacity: number,
    private readonly members: number,
  ) {
    this.shares = new Uint8Array(capacity * members);
  }

  get size(): number {
    return Math.min(this.pushed, this.capacity);
  }

  push(rows: NamedArrays, generator?: Generator): void {
    if (this.members > 1 && !generator) {
      const got = `none for ${this.members} members`;
      fail('transitionStore.push', "a generator for the members' shares", got, 'Give one.');
    }
    if (generator !== undefined) checkGenerator('transitionStore.push', generator);
    const count = rowCount('transitionStore.push', rows);
    this.take(rows);
    const kept = Math.min(count, this.capacity);
    this.pushed += count - kept; // what doesn't fit is counted all the same
    for (let i = 0; i < kept; i++) {
      const place = (this.pushed + i) % this.capacity;
      this.copy(rows, count - kept + i, place);
      for (let member = 0; member < this.members; member++) {
        this.shares[place * this.members + member] = this.members > 1 && generator ? poisson(generator) : 1;
      }
    }
    this.pushed += kept;
    this.places = [];
  }

  placesOf(member: number): Int32Array {
    return this.membersPlaces('transitionStore.placesOf', member).slice();
  }

  sample(generator: Generator, count: number, member = 0): Int32Array {
    checkGenerator('transitionStore.sample', generator);
    checkCount('transitionStore.sample', 'count', count);
    const places = this.membersPlaces('transitionStore.sample', member);
    if (places.length === 0) fail('transitionStore.sample', 'transitions', 'none', 'Push some first.');
    return Int32Array.from({ length: count }, () => places[generator.integer(places.length)]);
  }

  gather(places: ArrayLike<number>): NamedArrays {
    checkNumbers('transitionStore.gather', 'places', places, { min: 0, max: this.size - 1, whole: true });
    return gatherRows(this.fields, places);
  }

  rows(): NamedArrays {
    const oldest = this.pushed - this.size;
    return gatherRows(
      this.fields,
      Int32Array.from({ length: this.size }, (_, i) => (oldest + i) % this.capacity),
    );
  }

  async save(path: string): Promise<void> {
    checkText('transitionStore.save', 'path', path);
    return saveNpz(path, this.rows());
  }

  state(): SavedState {
    const { pushed, size, capacity, members } = this;
    const shares = new Uint8Array(size * members);
    for (let i = 0; i < size; i++) {
      const place = (pushed - size + i) % capacity;
      shares.set(this.shares.subarray(place * members, (place + 1) * members), i * members);
    }
    return { pushed, capacity, members, rows: this.rows(), shares };
  }

  restore(saved: SavedState): void {
    checkArgument('transitionStore.restore', 'saved', savedSchema, saved);
    const { pushed, capacity, members, rows, shares } = saved as {
      pushed: number;
      capacity: number;
      members: number;
      rows: NamedArrays;
      shares: Uint8Array;
    };
    if (capacity !== this.capacity || members !== this.members) {
      const expected = `a store of ${this.capacity} transitions and ${this.members} members`;
      const got = `a capacity of ${show(capacity)} and ${show(members)} members`;
      fail('transitionStore.restore', expected, got, 'Restore into a store of the same options.');
    }
    const held = Math.min(pushed, capacity);
    const count = Object.keys(rows).length === 0 ? 0 : rowCount('transitionStore.restore', rows);
    if (count !== held || shares.length !== held * members) {
      const expected = `${held} rows and their shares of ${members} members`;
      fail(
        'transitionStore.restore',
        expected,
        `${count} rows and ${shares.length} shares`,
        'Give what state() returned.',
      );
    }
    if (this.spec && held > 0) checkRowSpec('transitionStore.restore: saved.rows', this.spec, rows);
    const spec = held === 0 ? undefined : rowSpecOf(rows);
    this.fields = spec ? allocateRows(spec, this.capacity) : {}; // throws where memory is too small
    this.spec = spec;
    this.places = [];
    this.pushed = pushed;
    const size = this.size;
    for (let i = 0; i < size; i++) {
      const place = (pushed - size + i) % capacity;
      this.copy(rows, i, place);
      this.shares.set(shares.subarray(i * members, (i + 1) * members), place * members);
    }
  }

  /** Sees that rows are of the kind held, and makes room for the first ones. */
  private take(rows: NamedArrays): void {
    this.spec ??= rowSpecOf(rows);
    checkRowSpec('transitionStore.push', this.spec, rows);
    if (Object.keys(this.fields).length === 0) this.fields = allocateRows(this.spec, this.capacity);
  }

  private copy(rows: NamedArrays, from: number, to: number): void {
    gatherInto(this.fields, to, rows, [from]);
  }

  private membersPlaces(where: string, member: number): Int32Array {
    if (!Number.isInteger(member) || member < 0 || member >= this.members) {
      fail(where, `a member from 0 to ${this.members - 1}`, show(member), 'Give one of its members.');
    }
    this.places[member] ??= this.listPlaces(member);
    return this.places[member];
  }

  private listPlaces(member: number): Int32Array {
    const list: number[] = [];
    for (let place = 0; place < this.size; place++) {
      for (let i = this.shares[place * this.members + member]; i > 0; i--) list.push(place);
    }
    // Of a handful of rows a member may have got none.
    return list.length > 0 ? Int32Array.from(list) : Int32Array.from({ length: this.size }, (_, place) => place);
  }
}

/** A draw from Poisson(1): uniforms are multiplied until the product falls below 1/e (Knuth). */
function poisson(generator: Generator): number {
  let product = generator.uniform();
  let count = 0;
  while (product > Math.exp(-1)) {
    product *= generator.uniform();
    count++;
  }
  return count;
}
