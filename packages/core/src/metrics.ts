/** Figures of an update or an evaluation: flat, `group/snake_case: number`. Each key is documented in docs/metrics.md. */
export type Metrics = Record<string, number>;

/** One line of a run's log. */
export interface LogEntry {
  /** Environment steps done so far (one step of one environment counts 1, however many agents act in it). */
  readonly envSteps: number;
  /** Updates done so far. */
  readonly update: number;
  readonly metrics: Metrics;
}

/** What a log is told when a run begins. */
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
 * A sink of metrics: a progress line, a file. Sinks write at once and lose nothing that they were given. Each call may return a promise, which
 * is awaited before the next call.
 */
export interface Log {
  start(info: RunInfo): void;
  write(entry: LogEntry): void;
  close(): void;
}
