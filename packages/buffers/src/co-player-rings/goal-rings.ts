import { fail, type NamedArrays, type SavedState, show } from '@coplay/core';
import { checkArgument, restoreParts } from '@coplay/core/checks';
import { concatRows, gatherRows, rowCount } from '@coplay/core/rows';
import { z } from 'zod';
import { EpisodeRing } from './episode-ring';

/**
 * A ring for the episodes of each goal, and one for episodes without a goal: frequent goals don't displace the episodes
 * of a rare goal.
 */
export class GoalRings {
  private readonly rings: readonly EpisodeRing[];
  /** For each ring the number of each episode that it holds, counted from the first that was pushed. */
  private numbers: number[][];

  /** @param capacity  rows in all; each of the G + 1 rings has its share, rounded down */
  constructor(
    private readonly where: string,
    capacity: number,
    goals: number,
  ) {
    const share = Math.max(1, Math.floor(capacity / (goals + 1)));
    this.rings = Array.from({ length: goals + 1 }, () => new EpisodeRing(where, share));
    this.numbers = this.rings.map(() => []);
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

  /** Lengths of the episodes that are held, oldest first. */
  get lengths(): readonly number[] {
    return this.episodes().map(({ places }) => places.length);
  }

  /** Numbers of the episodes that are held, counted from the first one that was pushed. */
  get serials(): readonly number[] {
    return this.episodes().map(({ serial }) => serial);
  }

  /** Places of all rows held in `columns`, the oldest episode first. */
  places(): Int32Array {
    return Int32Array.from(this.episodes().flatMap(({ places }) => [...places]));
  }

  /** Copies episodes in, each to the ring of its goal (-1 for none), which is read from the column `goals`. */
  push(rows: NamedArrays): void {
    const count = rowCount('moaBuffer', rows);
    const isFirst = rows['isFirst'].data;
    for (let start = 0, end = 1; start < count; start = end++) {
      while (end < count && isFirst[end] === 0) end++;
      const episode = Int32Array.from({ length: end - start }, (_, i) => start + i);
      this.pushEpisode(gatherRows(rows, episode), rows['goals'].data[start] + 1);
    }
  }

  private pushEpisode(episode: NamedArrays, index: number): void {
    const ring = this.rings[index];
    ring.push(episode);
    this.numbers[index].push(this.pushed.episodes - 1);
    this.numbers[index].splice(0, this.numbers[index].length - ring.lengths.length); // what made room for it
  }

  /** The episodes held, oldest first. */
  private episodes(): { readonly serial: number; readonly places: Int32Array }[] {
    let above = 0;
    const held = this.rings.flatMap((ring, index) => {
      const own = ring.places().map((place) => above + place);
      const [first] = Object.values(ring.columns);
      above += first ? first.shape[0] : 0;
      let at = 0;
      return ring.lengths.map((length, i) => {
        const places = own.subarray(at, at + length);
        at += length;
        return { serial: this.numbers[index][i], places };
      });
    });
    return held.sort((a, b) => a.serial - b.serial);
  }

  clear(): void {
    for (const ring of this.rings) ring.clear();
    for (const serials of this.numbers) serials.length = 0;
  }

  state(): SavedState {
    return { rings: this.rings.map((ring) => ring.state()), serials: this.numbers.map((serials) => [...serials]) };
  }

  restore(saved: SavedState): void {
    const where = `${this.where}: restore`;
    checkArgument(where, 'saved', savedSchema(this.rings.length), saved);
    const states = saved['rings'] as readonly SavedState[];
    const serials = saved['serials'] as readonly (readonly number[])[];
    serials.forEach((own, i) => {
      checkSerials(`${where}: saved.serials[${i}]`, own, episodesIn(states[i]));
    });
    restoreParts(
      where,
      this.rings.map((ring, i) => ({ path: `saved.rings[${i}]`, part: ring, saved: states[i] })),
    );
    this.numbers = serials.map((own) => [...own]);
  }

  /** The rows held, for files. */
  rows(): NamedArrays {
    const { columns } = this;
    return this.size > 0 ? gatherRows(columns, this.places()) : {};
  }
}

function savedSchema(rings: number) {
  return z.looseObject({
    rings: z.array(z.looseObject({})).length(rings),
    serials: z.array(z.array(z.int().min(0))).length(rings),
  });
}

/** How many episodes a saved ring says that it holds; whether that's so, the ring itself checks. */
function episodesIn({ lengths }: SavedState): number | undefined {
  return (lengths as { readonly data?: ArrayLike<number> } | null | undefined)?.data?.length;
}

/** Refuses serial numbers unless there is one for each episode and they increase. */
function checkSerials(where: string, serials: readonly number[], episodes: number | undefined): void {
  if (episodes === undefined) return;
  const rises = serials.every((serial, i) => i === 0 || serial > serials[i - 1]);
  if (serials.length === episodes && rises) return;
  fail(where, `${episodes} rising numbers, one for each episode`, show(serials), 'Give what state() returned.');
}
