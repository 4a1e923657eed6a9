import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeWholeSync } from '@coplay/core/node';
import { parallelCoordinates, type TableRow, writeFigure, writeReport } from '@coplay/diagnostics';
import { bootstrap, type Estimate } from '@coplay/diagnostics/statistics';
import type { Settings } from '../configuration';
import { endOf, type RunResult } from './directory';
import type { CheckedSweep, PlannedRun } from './plan';

/** A run as the index has it. */
export interface IndexedRun extends PlannedRun {
  /** `open`: not begun, stopped, or at work still. */
  readonly state: 'done' | 'failed' | 'open';
  /** Of a run that is done. */
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
  /** Seeds that are done. */
  readonly seeds: number;
}

/** What a sweep found. */
export interface SweepResult {
  readonly runs: readonly IndexedRun[];
  /** The settings of runs that are done, those with the greatest mean return first. */
  readonly best: readonly SettingResult[];
}

/** How all runs of a sweep are, as their folders say. */
export function resultOf(directory: string, runs: readonly PlannedRun[]): SweepResult {
  const indexed = runs.map((run): IndexedRun => {
    const end = endOf(directory, run);
    if (end === undefined) return { ...run, state: 'open' };
    return 'error' in end ? { ...run, state: 'failed', error: end.error } : { ...run, state: 'done', result: end };
  });
  const settings = new Map<number, { settings: Settings; returns: number[] }>();
  for (const { setting, settings: own, result } of indexed) {
    if (!result) continue;
    const entry = settings.get(setting) ?? { settings: own, returns: [] };
    settings.set(setting, entry);
    entry.returns.push(result.mean);
  }
  const best = [...settings]
    .map(([setting, { settings, returns }]) => ({ setting, settings, mean: bootstrap(returns), seeds: returns.length }))
    .sort((a, b) => b.mean.value - a.mean.value);
  return { runs: indexed, best };
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
  const rows = best.map(({ settings, mean }) => [...axes.map((axis) => shownOf(settings[axis])), mean.value]);
  const options = {
    title: 'Settings and the mean return after training, which gives the colours',
    width: Math.max(720, 180 * axes.length),
  };
  const figure = await parallelCoordinates({ axes: [...axes, 'mean return'], rows, scales: scalesOf(drawn) }, options);
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
  return best.slice(0, most).map(({ setting, settings, mean, seeds }) => ({
    setting,
    ...Object.fromEntries(Object.entries(settings).map(([path, value]) => [path, textOf(value)])),
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
