import type { Run } from '../../runs';
import type { Curve } from '../../statistics';
import { columnsOf } from '../columns';
import { type KnownNames, partsOf } from '../keys';
import { stretchMeans } from '../subsample';

/** Something that looks wrong in one run or in several. */
export interface Finding {
  /** Which check found it, such as `inflated-critic`; docs/reading-a-report.md has a heading for each. */
  readonly check: string;
  /** `fault`: it can't be so in a sound run. `warning`: it rarely is. `note`: look at it. */
  readonly level: 'fault' | 'warning' | 'note';
  readonly title: string;
  /** The observation, with its figures. */
  readonly finding: string;
  /** Possible causes, and remedies. */
  readonly advice: string;
  /** The experiment that would confirm it, as a command. */
  readonly command: string;
  /** Names of the runs. */
  readonly runs: readonly string[];
  /** Metrics to look at. */
  readonly metrics: readonly string[];
}

/** A run as the checks see it. */
export interface Subject {
  readonly name: string;
  readonly run: Run;
  readonly names: KnownNames;
}

/** Stretches that a run is cut into before its highest or lowest point is looked for: one odd update is no finding. */
const STRETCHES = 20;

/** The finite values of a metric by agent (see `partsOf`). */
export function valuesOf({ run, names }: Subject, metric: string): Map<string, Curve> {
  const found = new Map<string, Curve>();
  for (const [key, { steps, values }] of columnsOf(run)) {
    if (!key.includes(metric)) continue;
    const parts = partsOf(key, names);
    if (parts.metric !== metric) continue;
    const finite = (_: number, i: number) => Number.isFinite(values[i]);
    const curve = { steps: steps.filter(finite), values: values.filter(finite) };
    if (curve.steps.length > 0) found.set(parts.agent, curve);
  }
  return found;
}

/** The greatest of the means of 20 stretches of a run; NaN where there are no values. */
export function highest({ steps, values }: Curve): number {
  const means = stretchMeans({ steps, values }, STRETCHES).values;
  return means.length > 0 ? Math.max(...means) : Number.NaN;
}

/** The mean of the last fifth of the values; NaN where there are none. */
export function late(values: readonly number[]): number {
  const recent = values.slice(Math.floor(0.8 * values.length));
  return recent.reduce((sum, value) => sum + value, 0) / recent.length;
}

/** The greatest absolute value of a metric over all agents; 0 where it isn't logged. */
export function greatest(subject: Subject, metric: string): number {
  let most = 0;
  for (const { values } of valuesOf(subject, metric).values()) {
    for (const value of values) most = Math.max(most, Math.abs(value));
  }
  return most;
}

/** Three significant digits. */
export function figure(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en', { maximumSignificantDigits: 3 });
}

/** Agents of a metric, those with a name where there are any: the mean over agents hides a single one. */
export function apart<T>(byAgent: ReadonlyMap<string, T>): [agent: string, value: T][] {
  const named = [...byAgent].filter(([agent]) => agent !== '');
  return named.length > 0 ? named : [...byAgent];
}
