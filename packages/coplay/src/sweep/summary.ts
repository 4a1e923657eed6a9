import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeWholeSync } from '@coplay/core/node';
import { parallelCoordinates, type TableRow, writeFigure, writeReport } from '@coplay/diagnostics';
import { bootstrap, type Estimate, mean as meanOf } from '@coplay/diagnostics/statistics';
import type { Settings } from '../configuration';
import { endOf, type PlannedSweep, type RunResult } from './directory';
import { reachedRungs, runTo } from './halving';
import type { CheckedSweep, PlannedRun } from './plan';

/** A run as the index has it. */
export interface IndexedRun extends PlannedRun {
  /** `open`: not begun, stopped, or at work still. In successive halving `done` is a run that ended at its rung. */
  readonly state: 'done' | 'failed' | 'open';
  /** The rung of its result, or, where it has none, that it is trained to; from 0, in successive halving. */
  readonly rung?: number;
  /** The newest, of a run that has one. */
  readonly result?: RunResult;
  /** Of a run that failed. */
  readonly error?: string;
}

/** Settings with the returns of their seeds. */
export interface SettingResult {
  /** Their number, from 0; the names of their runs begin with it. */
  readonly setting: number;
  readonly settings: Settings;
  /** Mean return over seeds, with its 95 % bootstrap interval. */
  readonly mean: Estimate;
  /** Environment steps that the returns are from, in successive halving. */
  readonly envSteps?: number;
  /** Seeds that are done. */
  readonly seeds: number;
}

/** What a sweep found. */
export interface SweepResult {
  readonly runs: readonly IndexedRun[];
  /**
   * The settings of runs that are done, those with the greatest mean return first; in successive halving those with the
   * most steps first.
   */
  readonly best: readonly SettingResult[];
}

/** How all runs of a sweep are, as their folders say. */
export function resultOf(directory: string, planned: PlannedSweep): SweepResult {
  const { rungs = [0] } = planned;
  const reached = reachedRungs(directory, planned);
  const runs = planned.runs.map((run) => indexedRun(directory, run, reached[run.setting], rungs));
  const settings = new Map<number, { settings: Settings; returns: number[]; rung: number }>();
  for (const { setting, settings: own, result, rung = 0 } of runs) {
    if (!result) continue;
    let entry = settings.get(setting);
    // Returns after different numbers of steps make no mean: those of the highest rung count.
    if (!entry || entry.rung < rung) entry = { settings: own, returns: [], rung };
    settings.set(setting, entry);
    if (entry.rung === rung) entry.returns.push(result.mean);
  }
  const best = [...settings]
    .sort(([, a], [, b]) => b.rung - a.rung || meanOf(b.returns) - meanOf(a.returns))
    .map(([setting, { settings: own, returns, rung }]) => {
      const steps = planned.rungs && { envSteps: rungs[rung] };
      return { setting, settings: own, mean: bootstrap(returns), seeds: returns.length, ...steps };
    });
  return { runs, best };
}

function indexedRun(directory: string, run: PlannedRun, rung: number, rungs: readonly number[]): IndexedRun {
  const end = endOf(directory, runTo(run, rung, rungs));
  const place = rungs.length > 1 && { rung };
  if (end && !('error' in end)) return { ...run, ...place, state: 'done', result: end };
  const before = rung === 0 ? undefined : endOf(directory, runTo(run, rung - 1, rungs));
  const kept = before && !('error' in before) && { result: before, rung: rung - 1 };
  return { ...run, ...place, ...kept, ...(end ? { state: 'failed', error: end.error } : { state: 'open' }) };
}

/** Writes `index.json`: all runs of a sweep with their states and results. */
export function writeIndex(directory: string, { runs, best }: SweepResult): void {
  const text = `${JSON.stringify({ format: 'coplay-sweep-index', version: 1, best, runs }, null, 2)}\n`;
  writeWholeSync(join(directory, 'index.json'), text, { where: 'coplay sweep' });
}

/**
 * Writes `report.html` over all runs that have a log, and `settings.svg` and `.png` over those that are done.
 *
 * @param drawn  the axes of the sweep: a range on a logarithmic scale is drawn on one
 */
export async function writeSummary(
  directory: string,
  { runs, best }: SweepResult,
  drawn: CheckedSweep['axes'] = {},
): Promise<void> {
  const logged = runs.map(({ name }) => join(directory, name)).filter((place) => existsSync(join(place, 'log.jsonl')));
  if (logged.length > 0) writeReport(join(directory, 'report.html'), logged);
  const axes = [...new Set(best.flatMap(({ settings }) => Object.keys(settings)))];
  if (axes.length === 0 || best.length < 2) return;
  const steps = best[0].envSteps === undefined ? [] : ['steps done'];
  const rows = best.map(({ settings, mean, envSteps }) => [
    ...axes.map((axis) => shownOf(settings[axis])),
    ...steps.map(() => envSteps!),
    mean.value,
  ]);
  const options = {
    title: 'Settings and the mean return after training, which gives the colours',
    width: Math.max(720, 180 * axes.length),
  };
  const figure = await parallelCoordinates(
    { axes: [...axes, ...steps, 'mean return'], rows, scales: scalesOf(drawn) },
    options,
  );
  await writeFigure(join(directory, 'settings'), figure);
}

/** The scales of ranges. */
function scalesOf(axes: NonNullable<CheckedSweep['axes']>): Record<string, 'linear' | 'log'> {
  return Object.fromEntries(
    Object.entries(axes).flatMap(([path, axis]) => ('scale' in axis ? [[path, axis.scale] as const] : [])),
  );
}

/** A row for each of the best settings. */
export function bestTable(best: readonly SettingResult[], most: number): TableRow[] {
  // Settings as texts: a table would round a learning rate to zeros.
  return best.slice(0, most).map(({ setting, settings, mean, seeds, envSteps }) => ({
    setting,
    ...Object.fromEntries(Object.entries(settings).map(([path, value]) => [path, textOf(value)])),
    ...(envSteps !== undefined && { 'steps done': envSteps }),
    seeds,
    'mean return': mean,
  }));
}

/** A value for a figure or a table: numbers as they are, records as JSON. */
function shownOf(value: unknown): number | string | null {
  if (value === undefined) return null;
  return typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value);
}

/** A value with four significant digits, as text. */
function textOf(value: unknown): string {
  return typeof value === 'number' ? String(Number(value.toPrecision(4))) : String(shownOf(value) ?? '');
}
