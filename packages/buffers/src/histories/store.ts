import {
  type AgentId,
  checkGame,
  checkOptions,
  type DType,
  type Experience,
  fail,
  type Game,
  type NamedArrays,
  type SavedState,
  show,
} from '@coplay/core';
import {
  checkArgument,
  checkExperienceOf,
  checkNumbers,
  checkObservations,
  checkTypedArray,
  namedArrays,
  restorePart,
  typedArrays,
} from '@coplay/core/checks';
import { checkRowSpec, concatRows, type RowSpec, rowCount, sliceRows } from '@coplay/core/rows';
import { z } from 'zod';
import { createEpisodeCollector } from '../episodes';
import { checkReal, coPlayerSeats, stepsThere, storedColumns, withValues } from './histories';

/** Options of {@link createHistoryStore}. */
export interface HistoryStoreOptions {
  /** The game that is played. */
  readonly game: Game;
  /** The observer: the histories are those of its co-players. */
  readonly id: AgentId;
}

/**
 * Histories of one observer's co-players, each kept once for all its readers: models of their actions (`createMoa`) and
 * of their subgoals (`createOmg`). The store holds each history as long as a reader holds it. Each reader has its own
 * capacity and its own rule of clearing.
 */
export interface HistoryStore {
  readonly id: AgentId;
  /** The game that is played. */
  readonly game: Game;
  /** Histories held now, by any reader. */
  readonly histories: number;
  /** Bytes of their arrays. */
  readonly bytes: number;
  /**
   * Takes the next piece of a rollout, and hands the histories that ended in it to all readers.
   *
   * @param values  [E, T, A] of every state, for selectors of subgoals that use values
   * @returns the number of histories that ended
   * @throws CoplayError for imagined experience, and where nothing reads the store
   */
  push(experience: Experience, values?: Float32Array): number;
  /** All histories, the beginnings of episodes that go on, and what each reader holds. */
  state(): SavedState;
  /** Takes over a state, with what each reader holds: restore the store before the models that read it. */
  restore(saved: SavedState): void;
}

/** One co-player's steps in one whole episode. */
export interface History {
  /** Counted from the first one that the store was pushed. */
  readonly serial: number;
  /** The co-player's. */
  readonly seat: number;
  /** [length, ...] see {@link storedColumns} */
  readonly columns: NamedArrays;
}

/** The number of steps of a history. */
export function lengthOf({ columns }: History): number {
  return columns['actions'].shape[0];
}

/** What holds histories of a store. */
export interface HistoryReader {
  /** For messages and saved states: `moa`, `omg`. */
  readonly kind: string;
  /** Whether it reads the observer's observations in addition to the co-players'. */
  readonly readsOwn: boolean;
  /** Whether it refuses histories without values. */
  readonly needsValues: boolean;
  /**
   * Takes what it wants of the histories that have ended.
   *
   * @param episodes   whole, one in each environment
   * @param histories  of their co-players, by environment, then in cyclic order from the observer
   */
  take(episodes: Experience, histories: readonly History[]): void;
  /** The histories that it holds; some may come twice. */
  held(): Iterable<History>;
  state(): SavedState;
  /**
   * Reads a saved state, and changes nothing.
   *
   * @param find  the history of a serial number
   * @returns a function that takes the state over
   */
  read(saved: SavedState, find: FindHistory): () => void;
}

/** The history of a serial number. @throws CoplayError where there is none */
export type FindHistory = (serial: number) => History;

const schema = z.strictObject({ game: z.custom<Game>(), id: z.string() });
const counted = z.int().min(0);
const savedSchema = z.looseObject({
  ...{ collector: z.looseObject({}), pushed: counted, rows: namedArrays },
  ...{ serials: typedArrays('int32'), seats: typedArrays('int32'), lengths: typedArrays('int32') },
  readers: z.array(z.looseObject({ kind: z.string(), state: z.looseObject({}) })),
});

/**
 * An empty store. Give it to `createMoa` and `createOmg` as their option `store`, then push each piece of a rollout to
 * the store, once.
 *
 * @throws CoplayError for unknown options, and an id that the game doesn't have
 */
export function createHistoryStore(options: HistoryStoreOptions): HistoryStore {
  const { game, id } = checkOptions('createHistoryStore', schema, options);
  checkGame('createHistoryStore: option game', game, 'discrete', 'play');
  if (!game.agents.includes(id)) {
    fail('createHistoryStore: option id', `one of ${game.agents.join(', ')}`, show(id), 'Use an id of game.agents.');
  }
  return new Store(game, id);
}

/**
 * The store of an option, before its first push.
 *
 * @param where  the function that was given the store, for messages
 */
export function newStore(where: string, store: HistoryStore): Store {
  if (!(store instanceof Store)) {
    fail(`${where}: option store`, 'a store of createHistoryStore', show(store), 'Make it with createHistoryStore().');
  }
  if (store.pushed > 0) {
    fail(`${where}: option store`, 'a store without histories', `${store.pushed} pushed`, 'Make its readers first.');
  }
  return store;
}

/** Refuses data for a buffer that reads a store. */
export function refuseStored(where: string): never {
  return fail(where, 'a buffer with memory of its own', 'one that reads a store', 'Push episodes to the store, once.');
}

/** Refuses, for a buffer with memory of its own, the saved state of one that read a store. */
export function refuseStoredState(where: string, saved: SavedState): void {
  if (!Object.hasOwn(Object(saved), 'store')) return;
  const expected = 'the state of a buffer with memory of its own';
  fail(`${where}: saved`, expected, 'that of one that read a store', 'Make it with the option store, as it was saved.');
}

/** Refuses the saved state of a buffer that read another store than this one, or the same one at another time. */
export function checkStored(where: string, store: Store, saved: SavedState): void {
  checkArgument(where, 'saved', z.looseObject({ store: counted }), saved);
  if (saved['store'] === store.fingerprint()) return;
  const got = `the store of ${store.id} with other histories`;
  const remedy = 'Save the store together with the models that read it, and restore it before them.';
  fail(`${where}: saved.store`, 'the histories of the store that it was saved with', got, remedy);
}

/** The class behind {@link HistoryStore}. */
export class Store implements HistoryStore {
  /** In the order in which they were made. */
  readonly readers: HistoryReader[] = [];
  /** Histories pushed so far. */
  pushed = 0;
  /** Its seat. */
  readonly observer: number;
  private readonly collector = createEpisodeCollector();

  constructor(
    readonly game: Game,
    readonly id: AgentId,
  ) {
    this.observer = game.agents.indexOf(id);
  }

  get histories(): number {
    return this.held().length;
  }

  get bytes(): number {
    const bytesOf = ({ columns }: History) =>
      Object.values(columns).reduce((sum, { data }) => sum + data.byteLength, 0);
    return this.held().reduce((sum, history) => sum + bytesOf(history), 0);
  }

  push(experience: Experience, values?: Float32Array): number {
    const { game, readers } = this;
    const where = 'historyStore.push';
    checkExperienceOf(where, game, experience);
    checkReal(where, experience);
    if (values !== undefined) checkTypedArray(where, 'values', values, 'float32', experience.rewards.length);
    if (readers.length === 0) {
      fail(where, 'a store that a model reads', 'no reader', 'Give it to createMoa or createOmg as the option store.');
    }
    if (values === undefined && readers.some(({ needsValues }) => needsValues)) {
      const remedy = "Give the values of all states, or choose the selector 'fixed' or 'random'.";
      fail(where, 'values, by which subgoals are selected', 'none', remedy);
    }
    const episodes = this.collector.push(withValues(experience, values));
    const histories = this.historiesOf(episodes);
    for (const reader of readers) reader.take(episodes, histories);
    return histories.length;
  }

  state(): SavedState {
    const held = this.held();
    return {
      ...{ collector: this.collector.state(), pushed: this.pushed },
      serials: Int32Array.from(held, ({ serial }) => serial),
      seats: Int32Array.from(held, ({ seat }) => seat),
      lengths: Int32Array.from(held, lengthOf),
      rows: held.length > 0 ? concatRows(held.map(({ columns }) => columns)) : {},
      readers: this.readers.map((reader) => ({ kind: reader.kind, state: reader.state() })),
    };
  }

  restore(saved: SavedState): void {
    const where = 'historyStore.restore';
    checkArgument(where, 'saved', savedSchema, saved);
    const { pushed, collector, readers } = saved as unknown as SavedStore;
    const kinds = (all: readonly { readonly kind: string }[]) => all.map(({ kind }) => kind).join(', ') || 'nothing';
    if (kinds(readers) !== kinds(this.readers)) {
      const remedy = 'Make the same models with the store, in the same order.';
      fail(`${where}: saved.readers`, `what ${kinds(this.readers)} held`, kinds(readers), remedy);
    }
    const find = finder(where, readHistories(where, saved as unknown as SavedStore, this.spec()));
    const takeOver = this.readers.map((reader, i) => {
      return restorePart(`${where}: saved.readers[${i}].state`, () => reader.read(readers[i].state, find));
    });
    restorePart(`${where}: saved.collector`, () => this.collector.restore(collector));
    for (const one of takeOver) one(); // nothing throws any more
    this.pushed = pushed;
  }

  /** A number that tells this content from another one: of the histories held, with their actions (FNV-1a). */
  fingerprint(): number {
    let hash = 0x811c9dc5;
    const add = (value: number) => {
      hash = Math.imul(hash ^ (value & 0xffff), 0x01000193) >>> 0;
    };
    add(this.pushed);
    for (const { serial, seat, columns } of this.held()) {
      add(serial);
      add(seat);
      columns['actions'].data.forEach(add);
    }
    return hash;
  }

  /** Each history once, oldest first. */
  private held(): History[] {
    const all = new Set<History>();
    for (const reader of this.readers) for (const history of reader.held()) all.add(history);
    return [...all].sort((a, b) => a.serial - b.serial);
  }

  /** The columns of a history. */
  private spec(): RowSpec {
    const { observation, actions, agents } = this.game;
    const seen = (prefix: string) => {
      const fields = Object.entries(observation).map(([name, field]) => [`${prefix}/${name}`, field] as const);
      return Object.fromEntries(fields);
    };
    const column = (dtype: DType, ...shape: readonly number[]) => ({ dtype, shape });
    return {
      ...seen('observations'),
      ...{ masks: column('uint8', actions), previousActions: column('int32', agents.length) },
      ...{ actions: column('int32'), left: column('uint8') },
      ...{ observerValues: column('float32'), coPlayerValues: column('float32') },
      ...(this.withOwn && seen('own')),
    };
  }

  /** Whether a reader reads the observer's observations. */
  private get withOwn(): boolean {
    return this.readers.some(({ readsOwn }) => readsOwn);
  }

  private historiesOf(episodes: Experience): History[] {
    const { observer, withOwn } = this;
    const histories: History[] = [];
    for (let env = 0; env < episodes.envs; env++) {
      for (const seat of coPlayerSeats(observer, episodes.agents.length)) {
        const length = stepsThere(episodes, env, seat);
        if (length === 0) continue;
        const columns = storedColumns(episodes, env, seat, length, observer, withOwn);
        histories.push({ serial: this.pushed++, seat, columns });
      }
    }
    return histories;
  }
}

/** What {@link Store.state} gives. */
interface SavedStore {
  readonly pushed: number;
  readonly collector: SavedState;
  readonly serials: Int32Array;
  readonly seats: Int32Array;
  readonly lengths: Int32Array;
  readonly rows: NamedArrays;
  readonly readers: readonly { readonly kind: string; readonly state: SavedState }[];
}

/** Saved histories, each with arrays of its own. */
function readHistories(where: string, saved: SavedStore, spec: RowSpec): History[] {
  const { serials, seats, lengths, rows, pushed } = saved;
  checkNumbers(where, 'saved.lengths', lengths, { min: 1 });
  checkNumbers(where, 'saved.serials', serials, { min: 0, max: pushed - 1 });
  checkNumbers(where, 'saved.seats', seats, { min: 0, max: spec['previousActions'].shape[0] - 1 });
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const count = Object.keys(rows).length === 0 ? 0 : rowCount(`${where}: saved.rows`, rows);
  if (count !== total || serials.length !== lengths.length || seats.length !== lengths.length) {
    const expected = `${total} rows of ${lengths.length} histories, as lengths say`;
    fail(`${where}: saved`, expected, `${count} rows of ${serials.length}`, 'Give what state() returned.');
  }
  if (count > 0) checkHistoryRows(where, rows, spec);
  let start = 0;
  return Array.from(lengths, (length, i) => {
    const columns = concatRows([sliceRows(rows, start, start + length)]);
    start += length;
    return { serial: serials[i], seat: seats[i], columns };
  });
}

/** Refuses rows of another game, and numbers that no game gives. */
function checkHistoryRows(where: string, rows: NamedArrays, spec: RowSpec): void {
  checkRowSpec(`${where}: saved.rows`, spec, rows);
  const K = spec['masks'].shape[0];
  const ranges = { masks: [0, 1], left: [0, 1], actions: [0, K - 1], previousActions: [-1, K - 1] };
  for (const [name, [min, max]] of Object.entries(ranges)) {
    checkNumbers(where, `saved.rows.${name}`, rows[name].data, { min, max });
  }
  const fields = Object.keys(spec).filter((name) => /^(observations|own)\//.test(name));
  const observations = Object.fromEntries(fields.map((name) => [name, rows[name].data]));
  const check = { spec, fields, observations, rows: rows['actions'].shape[0] };
  checkObservations(`${where}: saved.rows`, check, (row) => `row ${row}`);
}

function finder(where: string, histories: readonly History[]): FindHistory {
  const bySerial = new Map(histories.map((history) => [history.serial, history]));
  return (serial) => {
    const remedy = 'Give what state() returned.';
    return bySerial.get(serial) ?? fail(where, `the history ${serial}`, 'no such history', remedy);
  };
}
