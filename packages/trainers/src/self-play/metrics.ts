import type { Metrics } from '@coplay/core';

/**
 * Learners' metrics under their names (`agent_0/policy/loss`), and each key's plain mean over learners (`policy/loss`).
 */
export function mergeMetrics(learned: readonly (readonly [name: string, metrics: Metrics])[]): Metrics {
  const merged: Metrics = {};
  const counts: Record<string, number> = {};
  for (const [name, metrics] of learned) {
    for (const [key, value] of Object.entries(metrics)) {
      merged[`${name}/${key}`] = value;
      counts[key] = (counts[key] ?? 0) + 1;
      merged[key] = (merged[key] ?? 0) + (value - (merged[key] ?? 0)) / counts[key];
    }
  }
  return merged;
}

/** Times the parts of a round. */
export class Stopwatch {
  private start: number;
  private last: number;
  private readonly laps: Metrics = {};

  constructor(private readonly clock: () => number) {
    this.start = clock();
    this.last = this.start;
  }

  /** Leaves out the time since the last part ended. */
  skip(): void {
    const now = this.clock();
    this.start += now - this.last;
    this.last = now;
  }

  /** Ends a part. */
  lap(name: string): void {
    const now = this.clock();
    this.laps[`time/${name}_seconds`] = (now - this.last) / 1000;
    this.last = now;
  }

  /** The parts in seconds, and environment steps per second of the whole, unless the clock stood still. */
  metrics(envSteps: number): Metrics {
    const seconds = (this.clock() - this.start) / 1000;
    return { ...this.laps, ...(seconds > 0 && { 'time/steps_per_second': envSteps / seconds }) };
  }
}
