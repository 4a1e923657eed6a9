import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, type LogEntry, show } from '@coplay/core';
import { checkArgument, checkText, parseJson } from '@coplay/core/checks';
import { logEntries } from '../inputs';
import { type ReadLogOptions, readLog } from '../logs';
import { checkFileLogOptions } from '../logs/options';
import type { Curve } from '../statistics';

/** What {@link readRun} reads. */
export interface Run {
  readonly directory: string;
  /** The resolved configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The software that ran it, by name; empty where it wasn't recorded. */
  readonly versions: Readonly<Record<string, string>>;
  /** In the order of writing. */
  readonly entries: readonly LogEntry[];
}

/**
 * Reads the directory of a run, also while it goes on: `config.json` and `versions.json`, which a run with the option
 * `directory` writes, and the `log.jsonl` of {@link jsonLines} in the same directory.
 *
 * @throws CoplayError if it holds no configuration or no log, or they are damaged
 */
export function readRun(directory: string, options: ReadLogOptions = {}): Run {
  checkText('readRun', 'directory', directory);
  checkFileLogOptions('readRun', options);
  const config = readJson(join(directory, 'config.json'));
  if (!config) {
    fail('readRun', 'a run directory with config.json', directory, "Give the run's option directory.");
  }
  const versions = readJson(join(directory, 'versions.json')) ?? {};
  const odd = Object.entries(versions).find(([, version]) => typeof version !== 'string');
  if (odd) {
    const [name, version] = odd;
    fail(`readRun: versions.json: ${name}`, 'a text', show(version), 'Repair the file, or remove it.');
  }
  const entries = readLog(join(directory, 'log.jsonl'), options);
  return { directory, config, versions: versions as Record<string, string>, entries };
}

function readJson(path: string): Record<string, unknown> | undefined {
  if (!existsSync(path)) return undefined;
  const remedy = 'Repair the file, or remove the directory.';
  const value = parseJson(`readRun: ${path}`, readFileSync(path, 'utf8'), { remedy });
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  return fail('readRun', `an object of JSON in ${path}`, show(value), remedy);
}

/**
 * One metric of a log over environment steps; entries without it are left out.
 *
 * @throws CoplayError for a metric that no entry has
 */
export function curveOf(entries: readonly LogEntry[], metric: string): Curve {
  checkArgument('curveOf', 'entries', logEntries, entries);
  checkText('curveOf', 'metric', metric);
  const rows = entries.filter(({ metrics }) => metrics[metric] !== undefined);
  if (rows.length === 0 && entries.length > 0) {
    const known = [...new Set(entries.flatMap(({ metrics }) => Object.keys(metrics)))].sort();
    fail('curveOf', 'a metric of the log', JSON.stringify(metric), `It has: ${known.join(', ')}.`);
  }
  return { steps: rows.map(({ envSteps }) => envSteps), values: rows.map(({ metrics }) => metrics[metric]) };
}
