import type { TableRow } from '@coplay/diagnostics';
import { bootstrap, type Curve, interquartileMean, shareAtLeast } from '@coplay/diagnostics/statistics';
import { medianOrNever } from './timing';

/**
 * Columns of a table about learning: mean and interquartile mean over seeds with their intervals, the least, and the
 * share of seeds that reach a goal.
 *
 * @param returns  one per seed, after training
 * @param goal     the return that counts as learned; none where there is no such return
 */
export function learningColumns(returns: readonly number[], goal?: number): TableRow {
  return {
    seeds: returns.length,
    'after training': bootstrap(returns),
    IQM: bootstrap(returns, { statistic: interquartileMean }),
    least: Math.min(...returns),
    ...(goal !== undefined && { goal, 'seeds at the goal': shareAtLeast(returns, goal) }),
  };
}

/** The first step at which a smoothed curve is at a level; infinite if it never is. */
export function stepsToReach({ steps, values }: Curve, level: number): number {
  const at = values.findIndex((value) => value >= level);
  return at < 0 ? Number.POSITIVE_INFINITY : steps[at];
}

/** The median of steps or seconds, in which infinity means "never": infinite if the middle run never got there. */
export function medianReached(values: readonly number[]): number {
  return medianOrNever(values.map((value) => (Number.isFinite(value) ? value : null))) ?? Number.POSITIVE_INFINITY;
}

/** Steps or seconds in a table, in which infinity is `never`. */
export function reachedOrNever(value: number): number | 'never' {
  return Number.isFinite(value) ? value : 'never';
}
