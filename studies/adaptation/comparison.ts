import { bootstrap, type Estimate, mean } from '@coplay/diagnostics/statistics';
import { CO_PLAYERS } from './co-players';
import type { KindName } from './kinds';
import { LINE_UPS, type LineUp } from './meeting';
import type { Trial } from './trial';

/** The results by kind: one trial for each seed. */
export type Found = Readonly<Partial<Record<KindName, readonly Trial[]>>>;

/** Against whom. */
export interface Cell {
  readonly lineUp: LineUp;
  readonly coPlayer: string;
}

/** All pairs of a line-up and a co-player. */
export function cellsOf(coPlayers: readonly string[]): Cell[] {
  return (Object.keys(LINE_UPS) as LineUp[]).flatMap((lineUp) => coPlayers.map((coPlayer) => ({ lineUp, coPlayer })));
}

/** Those with co-players of one habit. */
export function cellsWith(cells: readonly Cell[], habit: 'fixed' | 'changing'): Cell[] {
  return cells.filter(({ coPlayer }) => CO_PLAYERS[coPlayer]?.habit === habit);
}

/** Mean return over cells and over the episodes before `until`, for each seed. */
export function levels(trials: readonly Trial[], cells: readonly Cell[], until?: number): number[] {
  return trials.map(({ returns }) => {
    return mean(cells.map(({ lineUp, coPlayer }) => mean(returns[lineUp][coPlayer].slice(0, until))));
  });
}

/**
 * How much more HOP earns than another, seed by seed: both trained with that seed and met the same games. Undefined
 * unless there are both, and cells to compare in.
 */
export function advantage(found: Found, over: KindName, cells: readonly Cell[], until?: number): Estimate | undefined {
  const [own, other] = [found.hop, found[over]];
  if (!own || !other || cells.length === 0) return undefined;
  const others = levels(other, cells, until);
  return bootstrap(levels(own, cells, until).map((level, seed) => level - others[seed]));
}

/** The upper end of an interval; the value itself where one seed gives none. */
export function upperEnd({ value, upper }: Estimate): number {
  return Number.isNaN(upper) ? value : upper;
}
