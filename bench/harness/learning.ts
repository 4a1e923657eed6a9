import type { TableRow } from '@coplay/diagnostics';
import { bootstrap, interquartileMean, shareAtLeast } from '@coplay/diagnostics/statistics';

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
