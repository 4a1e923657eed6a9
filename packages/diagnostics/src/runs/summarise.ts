import { checkOptions, fail, type LogEntry, type Metrics } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { logEntries } from '../inputs';

/** Options of {@link summarise}. */
export interface SummariseOptions {
  /** Which share of the run's steps, from its end, in (0, 1]. Default 0.2 */
  readonly lastShare?: number;
}

const schema = z.object({ lastShare: z.number().gt(0).max(1).default(0.2) }).strict();

/**
 * The mean of each metric over the last part of a run: `summarise(run.entries)['episode/return_mean']` is the mean
 * return over the last 20 % of training.
 *
 * `episode/` metrics are means over the episodes that ended in an update; they are weighted by `episode/count` where
 * it's logged. All others weigh the same in every entry. Entries in which a metric is missing or NaN don't count for
 * it.
 *
 * @throws CoplayError for no entries or wrong options
 */
export function summarise(entries: readonly LogEntry[], options: SummariseOptions = {}): Metrics {
  const { lastShare } = checkOptions('summarise', schema, options);
  checkArgument('summarise', 'entries', logEntries, entries);
  const last = entries.at(-1);
  if (!last) fail('summarise', 'one entry or more', 'none', 'Give the entries of a run that has logged.');
  const recent = entries.filter(
    ({ envSteps }) => envSteps > (1 - lastShare) * last.envSteps || envSteps === last.envSteps,
  );
  const names = new Set(recent.flatMap(({ metrics }) => Object.keys(metrics)));
  return Object.fromEntries([...names].map((name) => [name, weightedMean(recent, name)]));
}

function weightedMean(entries: readonly LogEntry[], name: string): number {
  let sum = 0;
  let weights = 0;
  for (const { metrics } of entries) {
    const value = metrics[name];
    if (value === undefined || Number.isNaN(value)) continue;
    const isWeighted = name.startsWith('episode/') && name !== 'episode/count';
    const weight = isWeighted ? (metrics['episode/count'] ?? 1) : 1;
    sum += weight * value;
    weights += weight;
  }
  return weights > 0 ? sum / weights : Number.NaN;
}
