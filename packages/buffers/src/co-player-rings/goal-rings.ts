import { fail, type NamedArrays, type SavedState, show } from '@coplay/core';
import { checkArgument, restorePart, restoreParts } from '@coplay/core/checks';
import { concatRows, gatherRows } from '@coplay/core/rows';
import { z } from 'zod';
import type { Ring } from './episode-ring';

/**
 * A ring for the episodes of each goal, and one for episodes without a goal: frequent goals don't displace the episodes
 * of a rare goal.
 */
export class GoalRings<Episode, Inner extends Ring<Episode>> implements Ring<Episode> {
  readonly rings: readonly Inner[];
  /** For each ring the number of each episode that it holds, counted from the first that was pushed. */
  private numbers: number[][];

  /**
   * @param capacity  rows in all; each of the G + 1 rings has its share, rounded down
   * @param goalOf    the goal of an episode, -1 for none
   * @param makeRing  an empty ring of a capacity
   */
  constructor(
    private readonly where: string,
    capacity: number,
    goals: number,
    private readonly goalOf: (episode: Episode) => number,
    makeRing: (capacity: number) => Inner,
  ) {
    const share = Math.max(1, Math.floor(capacity / (goals + 1)));
    this.rings = Array.from({ length: goals + 1 }, () => makeRing(share));
    this.numbers = this.rings.map(() => []);
  }

  /** Rows and episodes pushed so far. */
  get pushed() {
    const total = (of: (ring: Inner) => number) => this.rings.reduce((sum, ring) => sum + of(ring), 0);
    return { rows: total(({ pushed }) => pushed.rows), episodes: total(({ pushed }) => pushed.episodes) };
  }

  /** Rows that are held. */
  get size(): number {
    return this.rings.reduce((sum, ring) => sum + ring.size, 0);
  }

  /** Rows of `columns`. */
  get tableRows(): number {
    return this.rings.reduce((sum, ring) => sum + ring.tableRows, 0);
  }

  /** The rows of all rings below one another; {} before the first. */
  get columns(): NamedArrays {
    const used = this.rings.filter(({ tableRows }) => tableRows > 0);
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

  /** Puts one episode into the ring of its goal. */
  push(episode: Episode): void {
    const index = this.goalOf(episode) + 1;
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
      above += ring.tableRows;
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

  /** @param restoreRing  restores one ring */
  restore(saved: SavedState, restoreRing: (ring: Inner, saved: SavedState) => void): void {
    const { states, serials } = this.checkSaved(saved);
    restoreParts(
      `${this.where}: restore`,
      this.rings.map((ring, i) => {
        const part = { state: () => ring.state(), restore: (state: SavedState) => restoreRing(ring, state) };
        return { path: `saved.rings[${i}]`, part, saved: states[i] };
      }),
    );
    this.numbers = serials.map((own) => [...own]);
  }

  /**
   * Reads a saved state, and changes nothing.
   *
   * @param readRing  reads that of one ring, and returns a function that takes it over
   * @returns a function that takes all of it over
   */
  read(saved: SavedState, readRing: (ring: Inner, saved: SavedState) => () => void): () => void {
    const { states, serials } = this.checkSaved(saved);
    const takeOver = this.rings.map((ring, i) => {
      return restorePart(`${this.where}: restore: saved.rings[${i}]`, () => readRing(ring, states[i]));
    });
    return () => {
      for (const one of takeOver) one();
      this.numbers = serials.map((own) => [...own]);
    };
  }

  private checkSaved(saved: SavedState) {
    const where = `${this.where}: restore`;
    checkArgument(where, 'saved', savedSchema(this.rings.length), saved);
    const states = saved['rings'] as readonly SavedState[];
    const serials = saved['serials'] as readonly (readonly number[])[];
    serials.forEach((own, i) => {
      checkSerials(`${where}: saved.serials[${i}]`, own, episodesIn(states[i]));
    });
    return { states, serials };
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
  if (ArrayBuffer.isView(lengths)) return (lengths as Int32Array).length;
  return (lengths as { readonly data?: ArrayLike<number> } | null | undefined)?.data?.length;
}

/** Refuses serial numbers unless there is one for each episode and they increase. */
function checkSerials(where: string, serials: readonly number[], episodes: number | undefined): void {
  if (episodes === undefined) return;
  const rises = serials.every((serial, i) => i === 0 || serial > serials[i - 1]);
  if (serials.length === episodes && rises) return;
  fail(where, `${episodes} rising numbers, one for each episode`, show(serials), 'Give what state() returned.');
}
