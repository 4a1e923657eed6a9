import type { Metrics } from '@coplay/core';

/** The mean of each metric over the records that have it. */
export function meanMetrics(parts: readonly Metrics[]): Metrics {
  const sums: Record<string, number> = {};
  const counts: Record<string, number> = {};
  for (const part of parts) {
    for (const [key, value] of Object.entries(part)) {
      sums[key] = (sums[key] ?? 0) + value;
      counts[key] = (counts[key] ?? 0) + 1;
    }
  }
  return Object.fromEntries(Object.keys(sums).map((key) => [key, sums[key] / counts[key]]));
}
