import type { Log } from '@coplay/core';
import type { TableRow } from '@coplay/diagnostics';
import type { Estimate } from '@coplay/diagnostics/statistics';

/** A bench (of speed) or a study (of learning): one file `NAME.ts` that exports one as `bench` or `study`. */
export interface Experiment {
  /** The file's name without `.ts`. */
  readonly name: string;
  /** One line for the list. */
  readonly description: string;
  /** Minutes that it takes at its default settings on two cores; at most 180. */
  readonly minutes: number;
  /** Seeds 1..n by default; its bars are judged on all of them. */
  readonly seeds: number;
  /** Options of its own, all of them text: description and default of each. */
  readonly options?: Readonly<Record<string, OwnOption>>;
  /** What must hold. Every one of them gets its value from `run`. */
  readonly bars: Readonly<Record<string, Bar>>;
  run(context: Context): Promise<Outcome>;
}

/** An option such as `--size 8`. */
export interface OwnOption {
  readonly what: string;
  readonly default: string;
  /**
   * It only says which of the loops over seeds are run, and for how many seeds, so that results with another value
   * still count for `--resume`. Bars are judged if it selects what its default does, or more: a list with all of its
   * items, or a number that is not smaller. Default false
   */
  readonly isSelection?: boolean;
}

/** A value must be at least, or at most, so much. */
export type Bar = { readonly what: string } & ({ readonly atLeast: number } | { readonly atMost: number });

/** The results of an experiment. */
export interface Outcome {
  /** Every figure worth keeping, as JSON. */
  readonly figures: Readonly<Record<string, unknown>>;
  /**
   * The value for each bar, with its interval where it has one; null where its part, or what it is compared with, such
   * as a peer, did not run: the bar is missing.
   */
  readonly bars: Readonly<Record<string, number | Estimate | null>>;
}

/** The context of an experiment. */
export interface Context {
  /** Everything is to run, in seconds; nothing is judged. */
  readonly isQuick: boolean;
  /** 1..n, or as many from `--first-seed` on. */
  readonly seeds: readonly number[];
  /** Its own options, defaults filled in. */
  readonly options: Readonly<Record<string, string>>;
  /** Whether peers in Python are asked for. */
  readonly withPython: boolean;
  /** Checkouts of peers, given with --peer. */
  readonly peerFolders: readonly string[];
  /** Where its files go. */
  readonly directory: string;
  /** A line of progress (stderr). */
  say(line: string): void;
  /**
   * Does `work` for each seed and keeps its result, as JSON, in `raw/LABEL-seed-N.json`: with --resume a seed that was
   * finished, at the same settings, isn't done again. Nothing is kept of a seed for which it returns null: it was left
   * out.
   *
   * @returns what `work` returned for each seed, as JSON gives it back
   */
  seedLoop<T>(label: string, work: (seed: number, place: SeedPlace) => T | Promise<T>): Promise<T[]>;
  /** Keeps data as `raw/NAME.json`. */
  raw(name: string, data: unknown): void;
  /** Prints a table, and puts it into the experiment's page. */
  table(title: string, rows: readonly TableRow[]): void;
  /** Writes `NAME-suffix.svg` and `.png` and puts the figure into the experiment's page. */
  figure(suffix: string, svg: string): Promise<void>;
}

/** Where one seed of a loop puts things. */
export interface SeedPlace {
  /** Its own, for the files of a run; kept for --resume. */
  readonly directory: string;
  /** Whether a run that was broken off may lie there to be gone on with. */
  readonly mayResume: boolean;
  /** A progress line on stderr, and `log.jsonl` in the directory. */
  readonly log: readonly Log[];
}
