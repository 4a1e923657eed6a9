import type { Settings } from './command-line';
import type { Bar, Experiment, Outcome } from './experiment';
import { commit, type Machine, thisMachine } from './machine';
import { versions } from './versions';

/** A bar and how it was met. */
export interface JudgedBar {
  /** null where it was not measured, or is no number. */
  readonly value: number | null;
  readonly bar: number;
  /** Whether value is to be at least or at most the bar. */
  readonly must: 'at least' | 'at most';
  /** null where it isn't judged: with --quick, or without its comparison. */
  readonly ok: boolean | null;
  readonly what: string;
}

/** The content of `results/NAME.json`. */
export interface Results {
  readonly name: string;
  readonly description: string;
  readonly command: string;
  readonly commit: string | null;
  /** ISO 8601, when it ended. */
  readonly date: string;
  readonly seconds: number;
  readonly versions: Readonly<Record<string, string>>;
  readonly machine: Machine;
  readonly settings: { readonly quick: boolean; readonly seeds: number; readonly options: Settings['options'] };
  readonly figures: Outcome['figures'];
  readonly bars: Readonly<Record<string, JudgedBar>>;
}

/** Combines an experiment's results and their circumstances. */
export function makeResults(
  experiment: Experiment,
  settings: Settings,
  outcome: Outcome,
  run: { readonly command: string; readonly seconds: number },
): Results {
  const { name, description } = experiment;
  const { isQuick, seeds, options } = settings;
  return {
    name,
    description,
    command: run.command,
    commit: commit(),
    date: new Date().toISOString(),
    seconds: Math.round(run.seconds * 10) / 10,
    versions: versions(),
    machine: thisMachine(),
    settings: { quick: isQuick, seeds, options },
    figures: outcome.figures,
    bars: judge(experiment, outcome, isQuick),
  };
}

function judge({ name, bars }: Experiment, outcome: Outcome, isQuick: boolean): Record<string, JudgedBar> {
  const unknown = Object.keys(outcome.bars).find((key) => !(key in bars));
  if (unknown !== undefined)
    throw new Error(`${name}: run returned a value for the bar ${unknown}, which it does not have`);
  return Object.fromEntries(Object.entries(bars).map(([key, bar]) => [key, judgeBar(bar, outcome.bars[key], isQuick)]));
}

/** A bar without a measurement, or with NaN, doesn't hold. */
function judgeBar(bar: Bar, given: number | null | undefined, isQuick: boolean): JudgedBar {
  const value = given ?? Number.NaN;
  const [limit, must] = 'atLeast' in bar ? ([bar.atLeast, 'at least'] as const) : ([bar.atMost, 'at most'] as const);
  const holds = must === 'at least' ? value >= limit : value <= limit;
  return {
    value: Number.isFinite(value) ? value : null,
    bar: limit,
    must,
    ok: isQuick || given === null ? null : holds && Number.isFinite(value),
    what: bar.what,
  };
}

/** 0 when every bar holds, or none is judged; else 1. */
export function exitStatus({ bars }: Results): 0 | 1 {
  return Object.values(bars).some(({ ok }) => ok === false) ? 1 : 0;
}
