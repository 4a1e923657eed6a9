import { bootstrap, type Estimate, mean } from '@coplay/diagnostics/statistics';
import { CO_PLAYERS } from './co-players';
import type { DistinctByLineUp } from './distinct';
import type { KindName } from './kinds';
import { LINE_UPS, type LineUp } from './meeting';
import type { Reference, Returns, Trial } from './trial';

/** The results by kind: one trial for each seed. */
export type Found = Readonly<Partial<Record<KindName, readonly Trial[]>>>;

/** Against whom, and in which episodes: those that count for no other cell. */
export interface Cell {
  readonly lineUp: LineUp;
  readonly coPlayer: string;
  /** The first episode that counts. */
  readonly from: number;
}

/** All pairs of a line-up and a co-player, each with the episodes that are its own before episode `until`. */
export function cellsOf(coPlayers: readonly string[], distinct: DistinctByLineUp, until: number): Cell[] {
  const cells = (Object.keys(LINE_UPS) as LineUp[]).flatMap((lineUp) => {
    return coPlayers.map((coPlayer) => ({ lineUp, coPlayer, from: distinct[lineUp][coPlayer]?.from ?? 0 }));
  });
  return cells.filter(({ from }) => from < until);
}

/** Those with co-players of one habit. */
export function cellsWith(cells: readonly Cell[], habit: 'fixed' | 'changing'): Cell[] {
  return cells.filter(({ coPlayer }) => CO_PLAYERS[coPlayer]?.habit === habit);
}

/** Mean return over cells and over their episodes before `until`. */
function levelOf(returns: Returns, cells: readonly Cell[], until?: number): number {
  return mean(cells.map(({ lineUp, coPlayer, from }) => mean(returns[lineUp][coPlayer].slice(from, until))));
}

/** The same for each seed. */
export function levels(trials: readonly { readonly returns: Returns }[], cells: readonly Cell[], until?: number) {
  return trials.map(({ returns }) => levelOf(returns, cells, until));
}

/**
 * How much more HOP earns than another, seed by seed: both trained with that seed and met the same games. Undefined
 * unless there are both, and cells to compare in.
 */
export function advantage(found: Found, over: KindName, cells: readonly Cell[], until?: number): Estimate | undefined {
  const [own, other] = [found.hop, found[over]];
  if (!own || !other || own.length === 0 || cells.length === 0) return undefined;
  const others = levels(other, cells, until);
  return bootstrap(levels(own, cells, until).map((level, seed) => level - others[seed]));
}

/** The lower end of an interval; the value itself where one seed gives none. */
export function lowerEnd({ value, lower }: Estimate): number {
  return Number.isNaN(lower) ? value : lower;
}

/**
 * In one cell: the lower end of HOP less the better of PPO and direct-OM, as a share of the range from random agents to
 * the best agents there are there, rules among them.
 */
export function shareBehind(found: Found, references: readonly Reference[], cell: Cell): number | undefined {
  const rivals = (['ppo', 'direct'] as const).flatMap((name) => advantage(found, name, [cell]) ?? []);
  if (rivals.length === 0 || references.length === 0) return undefined;
  const ofSeeds = (trials: readonly { readonly returns: Returns }[]) => mean(levels(trials, [cell]));
  const random = mean(references.map(({ random }) => levelOf(random, [cell])));
  const rules = (['stag', 'hare'] as const).map((name) => mean(references.map((one) => levelOf(one[name], [cell]))));
  const best = Math.max(...rules, ...Object.values(found).map(ofSeeds));
  return Math.min(...rivals.map(lowerEnd)) / (best - random);
}
