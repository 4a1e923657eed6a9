import { checkOptions, fail, show } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { figure } from '../inputs';
import { bootstrap, type Estimate, interquartileMean, standardDeviation } from '../statistics';

/** The result of one cell of an ablation over its seeds. */
export interface AblationRow {
  readonly label: string;
  /** [S] one figure a seed, as given */
  readonly values: readonly number[];
  /** Mean over seeds with its 95 % bootstrap interval. */
  readonly mean: Estimate;
  /**
   * Interquartile mean with its interval; only where there are five seeds or more, as it drops a quarter at each end.
   */
  readonly iqm?: Estimate;
  /** Standard deviation over seeds, with divisor S - 1; NaN for one seed. */
  readonly spread: number;
  readonly min: number;
  readonly max: number;
  /**
   * Mean minus that of the baseline, with its 95 % bootstrap interval. Where both have the same number of seeds, seed
   * by seed, otherwise against the baseline's mean.
   */
  readonly difference: Estimate;
}

/** Options of {@link ablationSummary}. */
export interface AblationSummaryOptions {
  /** The label that the others are compared with. Default: the first one */
  readonly baseline?: string;
  /** Seed of the resampling. Default 0 */
  readonly seed?: number;
}

const schema = z.strictObject({ baseline: z.string().optional(), seed: z.int().min(0).default(0) });

/** Fewer seeds than these have no interquartile mean. */
const IQM_SEEDS = 5;

/**
 * Sums up an ablation over seeds.
 *
 * @param results  for each cell's label one figure a seed, such as the mean return over the last 20 % of training;
 *   seeds in the same order for all
 * @throws CoplayError for no cells, a cell without seeds, numbers that aren't finite, or an unknown baseline
 */
export function ablationSummary(
  results: Readonly<Record<string, readonly number[]>>,
  options: AblationSummaryOptions = {},
): AblationRow[] {
  checkArgument('ablationSummary', 'results', z.record(z.string(), z.array(figure)), results);
  const { baseline = Object.keys(results)[0], seed } = checkOptions('ablationSummary', schema, options);
  checkResults(results, baseline);
  return Object.entries(results).map(([label, values]) => ({
    label,
    values,
    mean: bootstrap(values, { seed }),
    ...(values.length >= IQM_SEEDS && { iqm: bootstrap(values, { seed, statistic: interquartileMean }) }),
    spread: values.length > 1 ? standardDeviation(values) : Number.NaN,
    min: Math.min(...values),
    max: Math.max(...values),
    difference: bootstrap(differences(values, results[baseline]), { seed }),
  }));
}

function differences(values: readonly number[], baseline: readonly number[]): number[] {
  const middle = baseline.reduce((sum, value) => sum + value, 0) / baseline.length;
  const isPaired = values.length === baseline.length;
  return values.map((value, s) => value - (isPaired ? baseline[s] : middle));
}

function checkResults(results: Readonly<Record<string, readonly number[]>>, baseline: string | undefined): void {
  const labels = Object.keys(results);
  const wrong = labels.find((label) => results[label].length === 0 || !results[label].every(Number.isFinite));
  if (labels.length === 0 || wrong !== undefined) {
    const got = wrong === undefined ? 'no cells' : `${wrong}: ${show(results[wrong])}`;
    fail('ablationSummary', 'a finite figure for each seed of each cell', got, 'Leave out cells that were not run.');
  }
  if (baseline === undefined || !labels.includes(baseline)) {
    fail(
      'ablationSummary: option baseline',
      `one of ${labels.join(', ')}`,
      show(baseline),
      'Give the label of a cell.',
    );
  }
}
