import { checkOptions, type Experience, fail, type NamedArrays, type SavedState, show } from '@coplay/core';
import { isArrayOf } from '@coplay/core/arrays';
import { checkArgument, checkExperience, checkNumbers, checkText, restoreParts } from '@coplay/core/checks';
import { z } from 'zod';
import { createEpisodeCollector } from '../episodes';
import { encodeNpz, loadNpz, saveNpz } from '../npz';
import { checkReal, coPlayerSeats, historyRows, stepsThere, withValues } from './histories';
import { HistoryRing } from './history-ring';
import { checkStored, type HistoryStore, newStore, refuseStored, refuseStoredState, type Store } from './store';
import { StoredRing } from './stored-ring';

/** Options of {@link createHistoryBuffer}. */
export interface HistoryBufferOptions {
  /** Seat of the agent that infers the others' subgoals, in 0..A-1 */
  readonly observer: number;
  /**
   * Steps held at most, of all co-players together; at least a longest episode. The oldest histories make room, whole.
   * Default 20,000
   */
  readonly capacity?: number | undefined;
  /** Pushes after which everything held is thrown away, before the next one is taken; false for never. Default false */
  readonly clearEvery?: number | false | undefined;
  /** `other` records the co-player's observations, `own` the observer's. Default `other` */
  readonly view?: 'other' | 'own' | undefined;
  /** Whose values are kept for the selector. Default `observer` */
  readonly valuesOf?: 'observer' | 'coPlayer' | undefined;
  /**
   * A store that keeps the histories, for this buffer and for others; then episodes are pushed to the store, and the
   * buffer takes them from there. Capacity and `clearEvery` are this buffer's own. Default: memory of its own
   */
  readonly store?: HistoryStore | undefined;
  /** Whether the store refuses a push without values. Default false */
  readonly needsValues?: boolean | undefined;
}

/**
 * Histories of the co-players for OMG: each co-player's steps in an episode, as long as it was there. They come from
 * the episodes that are played anyway; nothing is played for them.
 */
export interface HistoryBuffer {
  /** Steps held now. */
  readonly size: number;
  /** Histories held now. */
  readonly histories: number;
  /** Counts since the beginning: histories added, histories evicted, and clearings by `clearEvery`. */
  readonly counts: Readonly<Record<'pushed' | 'dropped' | 'cleared', number>>;
  /**
   * Takes the next segment of a rollout. A history is kept when its episode ends, whole; an episode whose start was
   * never seen is left out.
   *
   * @param values  [E, T, A] of every state, for selectors that use values; values of absent agents are never read
   * @returns the number of histories that were taken
   * @throws CoplayError for imagined experience
   */
  push(experience: Experience, values?: Float32Array): number;
  /** [histories + 1] where each begins among the steps held, and where the last one ends. Oldest first. */
  offsets(): Int32Array;
  /**
   * Copies of steps.
   *
   * @param places  in 0..size-1, counted from the oldest that's held
   * @returns `observations/NAME` [B, ...], `masks` [B, K], `actions`, `left`, `values`, `coPlayer` [B],
   *          `previousActions` [B, A] from the seat on whose view it is; see `HistoryBufferOptions.view`
   */
  rows(places: ArrayLike<number>): NamedArrays;
  clear(): void;
  /** Everything: histories, the beginnings of episodes that go on, counters. */
  state(): SavedState;
  restore(saved: SavedState): void;
  /** All histories as a .npz file: the fields of `rows` [N, ...] and `lengths`, the steps of each history. */
  encode(): Uint8Array;
  /** Writes what `encode` gives. Node only. */
  save(path: string): Promise<void>;
  /** Replaces the histories by a state of `save`; counters stay. Node only. */
  load(path: string): Promise<void>;
}

const schema = z.strictObject({
  observer: z.int().min(0),
  capacity: z.int().min(1).default(20_000),
  clearEvery: z.union([z.int().min(1), z.literal(false)]).default(false),
  view: z.enum(['other', 'own']).default('other'),
  valuesOf: z.enum(['observer', 'coPlayer']).default('observer'),
  store: z.custom<HistoryStore>().optional(),
  needsValues: z.boolean().default(false),
});

const savedRecord = z.record(z.string(), z.unknown());
const counted = z.int().min(0);
const numbersSchema = z.looseObject({
  pushes: counted,
  counts: z.looseObject({ pushed: counted, dropped: counted, cleared: counted }),
});
const savedSchema = numbersSchema.extend({ ring: savedRecord, collector: savedRecord });

/** An empty buffer. */
export function createHistoryBuffer(options: HistoryBufferOptions): HistoryBuffer {
  return new Histories(checkOptions('createHistoryBuffer', schema, options));
}

class Histories implements HistoryBuffer {
  private readonly ring: HistoryRing | StoredRing;
  private readonly collector = createEpisodeCollector();
  private readonly store: Store | undefined;
  private pushes = 0;
  counts = { pushed: 0, dropped: 0, cleared: 0 };

  constructor(private readonly settings: z.infer<typeof schema>) {
    const { capacity, store } = settings;
    if (!store) {
      this.ring = new HistoryRing('historyBuffer', capacity);
      return;
    }
    const ring = new StoredRing('historyBuffer', settings);
    this.ring = ring;
    this.store = newStore('createHistoryBuffer', store);
    if (this.store.observer !== settings.observer) {
      const expected = `${this.store.observer}, the seat of ${store.id}, whose store it is`;
      const remedy = 'Make one store for each observer.';
      fail('createHistoryBuffer: option observer', expected, show(settings.observer), remedy);
    }
    this.store.readers.push({
      kind: 'omg',
      readsOwn: settings.view === 'own',
      needsValues: settings.needsValues,
      take: (_, histories) => this.take(histories, (history) => ring.push(history)),
      held: () => ring.held(),
      state: () => ({ ring: ring.state(), ...this.numbers() }),
      read: (saved, find) => {
        checkArgument('historyBuffer.restore', 'saved', numbersSchema.extend({ ring: savedRecord }), saved);
        const takeOver = ring.read(saved['ring'] as SavedState, find);
        return () => {
          takeOver();
          this.setNumbers(saved);
        };
      },
    });
  }

  get size(): number {
    return this.ring.size;
  }

  get histories(): number {
    return this.ring.histories;
  }

  push(experience: Experience, values?: Float32Array): number {
    const { observer } = this.settings;
    checkExperience('historyBuffer.push', experience);
    if (this.store) refuseStored('historyBuffer.push');
    checkReal('historyBuffer.push', experience);
    if (observer >= experience.agents.length) {
      const expected = `experience of more than ${observer} agents`;
      fail(
        'historyBuffer.push',
        expected,
        show(experience.agents.length),
        'Give the seat of the observer in this game.',
      );
    }
    const episodes = this.collector.push(withValues(experience, values));
    const ring = this.ring as HistoryRing;
    const histories: { readonly env: number; readonly seat: number; readonly length: number }[] = [];
    for (let env = 0; env < episodes.envs; env++) {
      for (const seat of coPlayerSeats(observer, episodes.agents.length)) {
        const length = stepsThere(episodes, env, seat);
        if (length > 0) histories.push({ env, seat, length });
      }
    }
    return this.take(histories, ({ env, seat, length }) => {
      return ring.push(historyRows(episodes, env, seat, length, this.settings));
    });
  }

  offsets(): Int32Array {
    return this.ring.offsets();
  }

  rows(places: ArrayLike<number>): NamedArrays {
    checkNumbers('historyBuffer.rows', 'places', places, { min: 0, max: this.size - 1, whole: true });
    return this.ring.rows(places);
  }

  clear(): void {
    this.ring.clear();
  }

  state(): SavedState {
    if (this.store) return { store: this.store.fingerprint() };
    return { ring: this.ring.state(), collector: this.collector.state(), ...this.numbers() };
  }

  restore(saved: SavedState): void {
    if (this.store) {
      checkStored('historyBuffer.restore', this.store, saved);
      return;
    }
    refuseStoredState('historyBuffer.restore', saved);
    checkArgument('historyBuffer.restore', 'saved', savedSchema, saved);
    restoreParts('historyBuffer.restore', [
      { path: 'saved.ring', part: this.ring as HistoryRing, saved: saved['ring'] as SavedState },
      { path: 'saved.collector', part: this.collector, saved: saved['collector'] as SavedState },
    ]);
    this.setNumbers(saved);
  }

  encode(): Uint8Array {
    return encodeNpz(this.stored());
  }

  async save(path: string): Promise<void> {
    checkText('historyBuffer.save', 'path', path);
    return saveNpz(path, this.stored());
  }

  async load(path: string): Promise<void> {
    checkText('historyBuffer.load', 'path', path);
    const { lengths, ...rows } = await loadNpz(path);
    if (!isArrayOf('int32', lengths?.data)) {
      fail(`historyBuffer.load(${path})`, 'an array lengths of int32', show(lengths), 'Give what save wrote.');
    }
    if (this.store) refuseStored('historyBuffer.load');
    (this.ring as HistoryRing).restore({ lengths: lengths.data, rows: rows as NamedArrays });
  }

  private stored(): NamedArrays {
    const offsets = this.ring.offsets();
    const lengths = Int32Array.from({ length: this.histories }, (_, i) => offsets[i + 1] - offsets[i]);
    const rows = this.size > 0 ? this.ring.rows(Array.from({ length: this.size }, (_, place) => place)) : {};
    return { ...rows, lengths: { data: lengths, shape: [lengths.length] } };
  }

  /**
   * Takes the histories of one push.
   *
   * @param add  puts one into the ring; returns how many of the oldest made room for it
   */
  private take<Piece>(histories: readonly Piece[], add: (history: Piece) => number): number {
    const { clearEvery } = this.settings;
    if (clearEvery !== false && this.pushes > 0 && this.pushes % clearEvery === 0) {
      this.counts.cleared++;
      this.ring.clear();
    }
    this.pushes++;
    for (const history of histories) {
      this.counts.dropped += add(history);
      this.counts.pushed++;
    }
    return histories.length;
  }

  private numbers() {
    return { pushes: this.pushes, counts: { ...this.counts } };
  }

  private setNumbers(saved: SavedState): void {
    this.pushes = saved['pushes'] as number;
    this.counts = { ...(saved['counts'] as typeof this.counts) };
  }
}
