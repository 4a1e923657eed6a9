import type { LogEntry } from '@coplay/core';
import { type Curve, smooth } from '@coplay/diagnostics/statistics';

/** The mean of a metric over episodes: each update counts by the episodes that ended in it. */
export function meanOfEpisodes(entries: readonly LogEntry[], key: string): number {
  let sum = 0;
  let count = 0;
  for (const { metrics } of entries) {
    if (metrics[key] === undefined) continue;
    sum += metrics[key] * metrics['episode/count'];
    count += metrics['episode/count'];
  }
  return sum / count;
}

/** A smoothed curve of at most 150 points: enough for a figure, small enough to keep. */
export function shortCurve(curve: Curve): Curve {
  const smoothed = smooth(curve, 9);
  const every = Math.ceil(smoothed.steps.length / 150);
  const keep = (_: number, i: number) => i % every === 0 || i === smoothed.steps.length - 1;
  return { steps: smoothed.steps.filter(keep), values: smoothed.values.filter(keep) };
}
