import { existsSync, readFileSync, statSync } from 'node:fs';
import { fail, type LogEntry, type Metrics, show } from '@coplay/core';
import { checkText, parseJson } from '@coplay/core/checks';
import { checkFileLogOptions } from './options';

/** The text of a log, cut into rows. */
export interface Rows {
  readonly entries: LogEntry[];
  /**
   * Bytes behind the last whole line: the part of a row that was written when the process was killed; '' if there are
   * none.
   */
  readonly torn: string;
}

/** One row of `log.jsonl`, with its line feed. JSON has no NaN: it becomes `null`, and infinities become `1e999`. */
export function formatRow({ envSteps, update, metrics }: LogEntry): string {
  const fields = Object.entries({ envSteps, update, ...metrics });
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${formatNumber(value)}`).join(',')}}\n`;
}

function formatNumber(value: number): string {
  if (Object.is(value, -0)) return '-0';
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'null';
  return value > 0 ? '1e999' : '-1e999';
}

/**
 * Reads the text of a `log.jsonl`. Only its last line may be torn; anything else that is not a row is damage.
 *
 * @param path  for messages
 */
export function parseRows(text: string, path: string): Rows {
  const lines = text.split('\n');
  const last = lines.pop()!;
  const entries = lines.map((line, i) => parseRow(line) ?? refuse(line, i + 1, path));
  const whole = last === '' ? undefined : parseRow(last);
  if (whole) entries.push(whole);
  return { entries, torn: whole ? '' : last };
}

function parseRow(line: string): LogEntry | undefined {
  let row: unknown;
  try {
    row = parseJson('readLog', line);
  } catch {
    return undefined;
  }
  if (row === null || typeof row !== 'object' || Array.isArray(row)) return undefined;
  const { envSteps, update, ...rest } = row as Record<string, unknown>;
  if (!isCount(envSteps) || !isCount(update)) return undefined;
  if (!Object.values(rest).every((value) => value === null || typeof value === 'number')) return undefined;
  const measured = Object.entries(rest).map(([name, value]) => [name, value ?? Number.NaN]);
  return { envSteps, update, metrics: Object.fromEntries(measured) as Metrics };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function refuse(line: string, number: number, path: string): never {
  const expected = `line ${number} of ${path} to be a row such as {"envSteps":2048,"update":1,"policy/loss":0.1}`;
  fail('readLog', expected, show(line), 'The file is damaged or no log: repair the line or remove it.');
}

/** Options of {@link readLog}. */
export interface ReadLogOptions {
  /** Receives a message about a torn last line. Default: console.warn */
  readonly warn?: (message: string) => void;
}

/**
 * Reads a `log.jsonl`. A last line that a kill tore is left out, with a word.
 *
 * @throws CoplayError if there is no such file or another line is no row
 */
export function readLog(path: string, options: ReadLogOptions = {}): LogEntry[] {
  checkText('readLog', 'path', path);
  const { warn } = checkFileLogOptions('readLog', options);
  if (!existsSync(path) || !statSync(path).isFile()) {
    fail('readLog', 'the path of a log', `${path}, which is no file`, 'Give the log.jsonl of a run directory.');
  }
  const { entries, torn } = parseRows(readFileSync(path, 'utf8'), path);
  if (torn !== '') warn(`readLog: left out a torn line at the end of ${path} (${torn.length} characters)`);
  return entries;
}

/**
 * How many of the rows a run that goes on from `startedAt` has already behind it. Rows are in the order of writing,
 * and a run that starts at 0 has none, not even a row of step 0.
 */
export function countKept(envSteps: readonly number[], startedAt: number): number {
  if (startedAt === 0) return 0;
  const first = envSteps.findIndex((steps) => steps > startedAt);
  return first === -1 ? envSteps.length : first;
}
