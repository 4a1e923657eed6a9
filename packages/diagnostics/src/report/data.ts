/** The page's data: types only, so that page and library can't drift apart. */

/** Numbers as base64: little-endian float32, or uint16 where said. */
export type Packed = string;

/** One run, for the tables and as the place of its steps. */
export interface PageRun {
  readonly name: string;
  /** Index in {@link PageData.groups}. */
  readonly group: number;
  /** Environment steps of every `stride`-th update; curves point into it. */
  readonly steps: readonly number[];
}

/** Runs that differ in nothing but the seed. */
export interface PageGroup {
  readonly label: string;
  readonly runs: readonly number[];
}

/** The middle of a series over runs. All four have as many numbers. */
export interface PageLine {
  readonly x: Packed;
  readonly y: Packed;
  /** Interval over runs; absent for a single run. */
  readonly lower?: Packed;
  readonly upper?: Packed;
}

/** A series of one run, at most 500 points, extremes kept. */
export interface PageCurve {
  readonly run: number;
  /** uint16 places in the run's `steps` */
  readonly at: Packed;
  readonly values: Packed;
}

/** One figure of one group: of an agent, or the mean over agents. */
export interface PageSeries {
  readonly group: number;
  /** `agent_0`, `agent_0 about agent_1`; empty for the figure without an agent. */
  readonly agent: string;
  readonly line: PageLine;
  readonly curves: readonly PageCurve[];
}

/** A metric with all its series. */
export interface PageMetric {
  /** Without the learner's name and the agent's id. */
  readonly key: string;
  readonly series: readonly PageSeries[];
}

/** A trace of beliefs. */
export interface PageBeliefs {
  readonly title: string;
  readonly lines: readonly {
    readonly label: string;
    readonly x: Packed;
    readonly y: Packed;
    /** Steps in which the co-player changed its behaviour. */
    readonly switches: readonly number[];
  }[];
}

/** Everything that the page's script reads. */
export interface PageData {
  /** Seconds after which the page loads itself again; 0 for never. */
  readonly refreshSeconds: number;
  readonly runs: readonly PageRun[];
  readonly groups: readonly PageGroup[];
  readonly metrics: readonly PageMetric[];
  readonly beliefs: readonly PageBeliefs[];
}
