import type { NamedArrays, SavedState } from '@coplay/core';
import { concatRows, gatherRows, rowCount } from '../rows/rows';
import { EpisodeRing } from './episode-ring';

/**
 * A ring for the episodes of each goal, and one for those without: a goal that is hardly ever shown isn't forgotten for those
 * that are shown all the time.
 */
export class GoalRings {
  private readonly rings: readonly EpisodeRing[];

  /** @param capacity  rows in all; each of the G + 1 rings has its share, rounded down */
  constructor(where: string, capacity: number, goals: number) {
    const share = Math.max(1, Math.floor(capacity / (goals + 1)));
    this.rings = Array.from({ length: goals + 1 }, () => new EpisodeRing(where, share));
  }

  /** Rows and episodes pushed so far. */
  get pushed() {
    const total = (of: (ring: EpisodeRing) => number) => this.rings.reduce((sum, ring) => sum + of(ring), 0);
    return { rows: total(({ pushed }) => pushed.rows), episodes: total(({ pushed }) => pushed.episodes) };
  }

  /** Rows that are held. */
  get size(): number {
    return this.rings.reduce((sum, ring) => sum + ring.size, 0);
  }

  /** The rows of all rings below one another; {} before the first. */
  get columns(): NamedArrays {
    const used = this.rings.filter(({ columns }) => Object.keys(columns).length > 0);
    return used.length === 0 ? {} : concatRows(used.map(({ columns }) => columns));
  }

  get lengths(): readonly number[] {
    return this.rings.flatMap(({ lengths }) => lengths);
  }

  /** Places of all rows held in `columns`, by goal, the oldest first. */
  places(): Int32Array {
    let above = 0;
    const places = this.rings.flatMap((ring) => {
      const own = Array.from(ring.places(), (place) => above + place);
      const [first] = Object.values(ring.columns);
      above += first ? first.shape[0] : 0;
      return own;
    });
    return Int32Array.from(places);
  }

  /** Copies episodes in, each to the ring of its goal (-1 for none, which is told in the column `goals`). */
  push(rows: NamedArrays): void {
    const goals = rows['goals'].data;
    const all = Array.from({ length: rowCount('moaBuffer', rows) }, (_, row) => row);
    this.rings.forEach((ring, i) => {
      const own = all.filter((row) => goals[row] === i - 1);
      if (own.length > 0 || all.length === 0) ring.push(gatherRows(rows, own));
    });
  }

  clear(): void {
    for (const ring of this.rings) ring.clear();
  }

  state(): SavedState {
    return { rings: this.rings.map((ring) => ring.state()) };
  }

  restore(saved: SavedState): void {
    const states = saved['rings'] as readonly SavedState[];
    this.rings.forEach((ring, i) => void ring.restore(states[i]));
  }

  /** The rows held, for files. */
  rows(): NamedArrays {
    const { columns } = this;
    return this.size > 0 ? gatherRows(columns, this.places()) : {};
  }
}
