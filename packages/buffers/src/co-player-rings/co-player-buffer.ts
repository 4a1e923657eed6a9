import {
  type ActionSpaces,
  type AgentId,
  type Experience,
  fail,
  type NamedArrays,
  type SavedState,
  show,
} from '@coplay/core';
import { checkText } from '@coplay/core/checks';
import { nonZero, sliceRows } from '@coplay/core/rows';
import { type StoredArrays, saveNpz } from '../npz';
import type { Ring } from './episode-ring';

/** How much came in over all time. */
export interface MoaCounts {
  readonly rows: number;
  readonly episodes: number;
}

/** The rows of one co-player. */
export interface MoaHeld {
  /**
   * [capacity, ...] for each column of `moaRows`: read only, valid until the next push; {} before the first. A buffer
   * that reads a store makes copies
   */
  readonly columns: NamedArrays;
  /** [n] where in `columns` the rows held are, oldest first; episodes follow one another. */
  readonly places: Int32Array;
  /** Lengths of the episodes held, oldest first; they sum to n. */
  readonly lengths: readonly number[];
  /** Their numbers, counted from the first one that was ever pushed, 0. */
  readonly serials: readonly number[];
}

/**
 * Steps of co-players, by co-player, for models of them. Holds real, whole episodes, and no step after an agent left.
 */
export interface MoaBuffer {
  readonly coPlayers: readonly AgentId[];
  /** Rows held now. */
  readonly rows: Readonly<Record<AgentId, number>>;
  /** What came in so far. */
  readonly pushed: Readonly<Record<AgentId, MoaCounts>>;
  /**
   * Takes the next piece of a rollout. Episodes that haven't ended wait for their end, since it labels them.
   *
   * @returns for each co-player the rows that were added
   * @throws CoplayError for imagined experience
   */
  push(experience: Experience<ActionSpaces>): Readonly<Record<AgentId, NamedArrays>>;
  /**
   * Adds one co-player's whole episodes, as `moaRows` makes them.
   *
   * @throws CoplayError for a step after the co-player left, naming the row
   */
  pushRows(coPlayer: AgentId, rows: NamedArrays): void;
  /** One co-player's rows. */
  held(coPlayer: AgentId): MoaHeld;
  /** Says that the rows held were trained on: with `keep: 'empty'` they are dropped. */
  trained(): void;
  state(): SavedState;
  restore(saved: SavedState): void;
  /** Writes the rows held as a .npz file, `<co-player>/<column>`. Node only. */
  save(path: string): Promise<void>;
  /** Adds the rows of a file that `save` wrote. Node only. */
  load(path: string): Promise<void>;
}

/** The part of a `MoaBuffer` that reads the rings of its co-players. */
export abstract class CoPlayerBuffer<Any extends Pick<Ring<never>, keyof Ring<never>>> implements MoaBuffer {
  constructor(
    protected readonly rings: ReadonlyMap<AgentId, Any>,
    private readonly keep: 'ring' | 'empty',
  ) {}

  get coPlayers(): readonly AgentId[] {
    return [...this.rings.keys()];
  }

  get rows() {
    return this.perCoPlayer((ring) => ring.size);
  }

  get pushed() {
    return this.perCoPlayer((ring) => ({ ...ring.pushed }));
  }

  held(coPlayer: AgentId): MoaHeld {
    const ring = this.ringOf('moaBuffer.held', coPlayer);
    return { columns: ring.columns, places: ring.places(), lengths: ring.lengths, serials: ring.serials };
  }

  trained(): void {
    if (this.keep === 'empty') for (const ring of this.rings.values()) ring.clear();
  }

  async save(path: string): Promise<void> {
    checkText('moaBuffer.save', 'path', path);
    const stored: StoredArrays = {};
    for (const [id, ring] of this.rings) {
      const rows = ring.rows();
      for (const name in rows) stored[`${id}/${name}`] = rows[name];
    }
    await saveNpz(path, stored);
  }

  abstract push(experience: Experience<ActionSpaces>): Readonly<Record<AgentId, NamedArrays>>;
  abstract pushRows(coPlayer: AgentId, rows: NamedArrays): void;
  abstract load(path: string): Promise<void>;
  abstract state(): SavedState;
  abstract restore(saved: SavedState): void;

  protected perCoPlayer<T>(of: (ring: Any) => T): Record<AgentId, T> {
    return Object.fromEntries([...this.rings].map(([id, ring]) => [id, of(ring)]));
  }

  protected ringOf(where: string, id: AgentId): Any {
    const known = this.coPlayers.join(', ') || 'nobody';
    return this.rings.get(id) ?? fail(where, `one of ${known}`, show(id), 'Name a co-player of this buffer.');
  }

  /** Refuses the rings of other co-players. */
  protected checkSavedRings(states: SavedState): void {
    const saved = Object.keys(states);
    const unlike = [...this.coPlayers, ...saved].find((id) => !this.rings.has(id) || !saved.includes(id));
    if (unlike === undefined) return;
    const expected = `rows of ${this.coPlayers.join(', ') || 'nobody'}`;
    const got = saved.join(', ') || 'nobody';
    fail('moaBuffer.restore: saved.rings', expected, got, 'Restore what this buffer saved.');
  }
}

/** Whole episodes, one by one. */
export function episodesIn(rows: NamedArrays): NamedArrays[] {
  const starts = nonZero(rows['isFirst'].data);
  const count = rows['isFirst'].shape[0];
  return Array.from(starts, (start, i) => sliceRows(rows, start, starts[i + 1] ?? count));
}
