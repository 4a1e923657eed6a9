import { isPlainRecord } from './check-values';
import { fail, show } from './errors';

/**
 * Figures of an update or an evaluation: flat, `group/snake_case: number`. Each key is documented in docs/metrics.md.
 */
export type Metrics = Record<string, number>;

/**
 * The measured metrics: undefined ones weren't measured and are left out.
 *
 * @param where  who gave them, for the message: `jsonLines.write`
 * @throws CoplayError for anything but a record of numbers, such as a Map, and names the metric whose value is no
 *         number
 */
export function checkMetrics(where: string, metrics: Metrics): Metrics {
  if (!isPlainRecord(metrics)) {
    fail(`${where}: metrics`, 'a record of numbers', show(metrics), 'Give one such as { "policy/loss": 0.1 }.');
  }
  const measured = Object.entries(metrics).filter(([, value]: [string, unknown]) => value !== undefined);
  for (const [name, value] of measured) {
    if (typeof value === 'number') continue;
    fail(where, `a number for the metric ${show(name)}`, show(value), 'Leave it out if it was not measured.');
  }
  return Object.fromEntries(measured);
}

/** One line of a run's log. */
export interface LogEntry {
  /** Environment steps done so far (one step of one environment counts 1, however many agents act in it). */
  readonly envSteps: number;
  /** Updates done so far. */
  readonly update: number;
  readonly metrics: Metrics;
}

/** The description of a run that a log receives when the run begins. */
export interface RunInfo {
  /** For headings: the game's name. */
  readonly name: string;
  /** The resolved configuration, as JSON. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Environment steps asked for in this call of `train`, counted from the start of the run. */
  readonly envSteps: number;
  /** Where the run's files are, if it keeps any. */
  readonly directory?: string;
  /** Environment steps already done when a run is resumed; 0 at the start. */
  readonly startedAt: number;
}

/**
 * A sink of metrics: a progress line, a file. Sinks write at once and lose nothing that they were given. Each call may
 * return a promise, which is awaited before the next call.
 */
export interface Log {
  start(info: RunInfo): void;
  write(entry: LogEntry): void;
  close(): void;
}
