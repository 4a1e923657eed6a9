import type { Estimate } from '@coplay/diagnostics/statistics';
import type { Settings } from './command-line';
import type { Bar, Experiment, Outcome } from './experiment';
import { type Machine, thisMachine } from './machine';
import type { SeedCommits } from './seed-loop';
import { versions } from './versions';

/**
 * `missing`: not all that the experiment runs by default was run, or not at a commit. `not judged`: a quick run. A
 * missing bar doesn't hold.
 */
export type Verdict = 'holds' | 'does not hold' | 'missing' | 'not judged';

/** A bar and how it was met. */
export interface JudgedBar {
  /** null where it was not measured, or is no number. */
  readonly value: number | null;
  /** 95 % interval over seeds, where the experiment gives one. */
  readonly interval?: readonly [number, number];
  /** Number of seeds behind the value, where the experiment gives an interval. */
  readonly seeds?: number;
  readonly bar: number;
  /** Whether value is to be at least or at most the bar. */
  readonly must: 'at least' | 'at most';
  readonly verdict: Verdict;
  readonly what: string;
}

/** The content of `results/NAME.json`. */
export interface Results {
  readonly name: string;
  readonly description: string;
  readonly command: string;
  /** The commit at the start of the run, with `+` for uncommitted changes. */
  readonly commit: string | null;
  /** Seeds that `--resume` took from runs at other commits, by commit: `LABEL: 1, 2`. */
  readonly otherCommits: Readonly<Record<string, readonly string[]>>;
  /** The experiment's own code, see `sourceVersion`. */
  readonly sources: string;
  /** ISO 8601, when it ended. */
  readonly date: string;
  readonly seconds: number;
  readonly versions: Readonly<Record<string, string>>;
  readonly machine: Machine;
  readonly settings: {
    readonly quick: boolean;
    readonly seeds: number;
    readonly firstSeed: number;
    readonly options: Settings['options'];
  };
  /** Reasons for which all bars are missing. */
  readonly leftOut: readonly string[];
  readonly figures: Outcome['figures'];
  readonly bars: Readonly<Record<string, JudgedBar>>;
}

/** The circumstances of a run. */
export interface Run {
  readonly command: string;
  readonly seconds: number;
  readonly commit: string | null;
  readonly sources: string;
  readonly seedCommits: SeedCommits;
}

/** Combines an experiment's results and their circumstances. */
export function makeResults(experiment: Experiment, settings: Settings, outcome: Outcome, run: Run): Results {
  const { name, description } = experiment;
  const { isQuick, seeds, firstSeed, options } = settings;
  const otherCommits = otherThan(run.commit, run.seedCommits);
  const used = { quick: isQuick, seeds, firstSeed, options };
  const leftOut = [...leftOutBy(experiment, used), ...uncommitted([run.commit, ...Object.keys(otherCommits)])];
  return {
    name,
    description,
    command: run.command,
    commit: run.commit,
    otherCommits,
    sources: run.sources,
    date: new Date().toISOString(),
    seconds: Math.round(run.seconds * 10) / 10,
    versions: versions(),
    machine: thisMachine(),
    settings: used,
    leftOut,
    figures: outcome.figures,
    bars: judge(experiment, outcome, isQuick ? 'not judged' : leftOut.length > 0 ? 'missing' : undefined),
  };
}

/** The parts and seeds that the experiment has by default and a run with these settings leaves out, in words. */
export function leftOutBy(experiment: Experiment, { seeds, firstSeed, options }: Results['settings']): string[] {
  const isWhole = firstSeed === 1 && seeds >= experiment.seeds;
  const ran = firstSeed + seeds - 1;
  const own = Object.entries(experiment.options ?? {}).flatMap(([name, { default: byDefault, isSelection }]) => {
    const value = options[name] ?? byDefault;
    const isAll = value === byDefault || (isSelection && selectsAll(value, byDefault));
    return isAll ? [] : [`--${name} is ${value}, by default ${byDefault}`];
  });
  return isWhole ? own : [`seeds are ${firstSeed} to ${ran}, by default 1 to ${experiment.seeds}`, ...own];
}

function selectsAll(value: string, byDefault: string): boolean {
  if (Number.isFinite(Number(byDefault))) return Number(value) >= Number(byDefault);
  const items = (list: string) => list.split(byDefault.includes(';') ? ';' : ',').map((item) => item.trim());
  const chosen = items(value);
  return items(byDefault).every((item) => chosen.includes(item));
}

/** Seeds that were run at other commits than the rest. */
function otherThan(commit: string | null, seedCommits: SeedCommits): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const [label, bySeed] of Object.entries(seedCommits)) {
    for (const other of new Set(Object.values(bySeed))) {
      if (other === commit) continue;
      const seeds = Object.keys(bySeed).filter((seed) => bySeed[Number(seed)] === other);
      const name = other ?? 'unknown';
      found[name] = [...(found[name] ?? []), `${label}: ${seeds.join(', ')}`];
    }
  }
  return found;
}

/** Why runs at these commits don't count, if one of them had uncommitted changes. */
export function uncommitted(commits: readonly (string | null)[]): string[] {
  const dirty = commits.filter((commit) => commit === null || commit === 'unknown' || commit.endsWith('+'));
  return [...new Set(dirty)].map((commit) =>
    commit?.endsWith('+') ? `uncommitted changes at ${commit.slice(0, -1)}` : 'the commit is unknown',
  );
}

function judge({ name, bars }: Experiment, outcome: Outcome, verdict?: Verdict): Record<string, JudgedBar> {
  const unknown = Object.keys(outcome.bars).find((key) => !(key in bars));
  if (unknown !== undefined)
    throw new Error(`${name}: run returned a value for the bar ${unknown}, which it does not have`);
  return Object.fromEntries(Object.entries(bars).map(([key, bar]) => [key, judgeBar(bar, outcome.bars[key], verdict)]));
}

/** A bar without a measurement is missing; one with NaN doesn't hold. */
function judgeBar(bar: Bar, given: number | Estimate | null | undefined, verdict?: Verdict): JudgedBar {
  const estimate = typeof given === 'object' ? given : null;
  const value = estimate?.value ?? (given as number | null | undefined) ?? Number.NaN;
  const { limit, must } = demandOf(bar);
  const holds = Number.isFinite(value) && (must === 'at least' ? value >= limit : value <= limit);
  const judged = given === null || given === undefined ? 'missing' : holds ? 'holds' : 'does not hold';
  const { lower, upper, count } = estimate ?? {};
  const hasInterval = Number.isFinite(lower) && Number.isFinite(upper);
  return {
    value: Number.isFinite(value) ? value : null,
    ...(hasInterval && { interval: [lower as number, upper as number] as const }),
    ...(count !== undefined && { seeds: count }),
    bar: limit,
    must,
    verdict: verdict ?? judged,
    what: bar.what,
  };
}

/** The limit of a bar, and on which side of it values must be. */
export function demandOf(bar: Bar): Pick<JudgedBar, 'must'> & { readonly limit: number } {
  return 'atLeast' in bar ? { limit: bar.atLeast, must: 'at least' } : { limit: bar.atMost, must: 'at most' };
}

/** 0 when every bar holds, or none is judged; else 1. */
export function exitStatus({ bars }: Results): 0 | 1 {
  return Object.values(bars).every(({ verdict }) => verdict === 'holds' || verdict === 'not judged') ? 0 : 1;
}
