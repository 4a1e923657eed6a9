import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, type Log, type LogEntry, show } from '@coplay/core';
import { formatRecord, parseRecords } from './csv-text';
import { LockedFile, replaceFile } from './files';
import { checkEntry, checkFileLog, checkStart, type FileLogOptions } from './options';
import { keepRemovedText } from './removed-text';
import { countKept } from './rows';

/** The columns that every file begins with. */
const FIXED = ['envSteps', 'update'];

/**
 * Writes each entry as one record of `directory/log.csv` under a header of metric names. A metric that first appears
 * later becomes a new last column, empty in the records before; one that is missing from an entry leaves an empty
 * field. Not-a-number is written `NaN`, infinities `Infinity` and `-Infinity`.
 *
 * A run that goes on keeps the columns; torn and later records are treated as in {@link jsonLines} (`log.old-1.csv`).
 *
 * @throws CoplayError for a directory that is no path, and for a file that has another header
 */
export function csv(directory: string, options: FileLogOptions = {}): Log {
  const { warn } = checkFileLog('csv', directory, options);
  const path = join(directory, 'log.csv');
  const file = new LockedFile('csv', path);
  let columns: string[] = [];
  return {
    start(info) {
      const startedAt = checkStart('csv', info);
      file.start(() => {
        columns = repair(path, startedAt, warn);
      });
    },
    write(given) {
      const { open } = file;
      const entry = checkEntry('csv', given);
      const late = Object.keys(entry.metrics).filter((name) => !columns.includes(name));
      if (late.length === 0) return open.append(formatRecord(fieldsOf(entry, columns)));
      const wider = [...columns, ...late];
      file.replace(widened(path, wider, fieldsOf(entry, wider)));
      columns = wider;
    },
    close: () => file.close(),
  };
}

function fieldsOf({ envSteps, update, metrics }: LogEntry, columns: readonly string[]): string[] {
  const metricFields = columns.slice(FIXED.length).map((name) => {
    return Object.hasOwn(metrics, name) ? formatNumber(metrics[name]) : '';
  });
  return [String(envSteps), String(update), ...metricFields];
}

function formatNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** The text of the file with more columns and one more record. */
function widened(path: string, columns: readonly string[], record: readonly string[]): string {
  const { records } = parseRecords(readFileSync(path, 'utf8'));
  return formatRecords(columns, [...records.slice(1), record]);
}

function formatRecords(columns: readonly string[], records: readonly (readonly string[])[]): string {
  const padded = records.map((record) => columns.map((_, i) => record[i] ?? ''));
  return [columns, ...padded].map(formatRecord).join('');
}

/** Leaves whole records up to `startedAt` in the file, or makes one with a header. Returns its columns. */
function repair(path: string, startedAt: number, warn: (message: string) => void): string[] {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const { records, torn } = parseRecords(text);
  const [header = FIXED, ...rows] = records;
  checkColumns(path, header);
  if (torn !== '') warn(`csv: cut off a torn line at the end of ${path} (${torn.length} characters)`);
  const count = countKept(
    rows.map((row) => Number(row[0])),
    startedAt,
  );
  if (count < rows.length) {
    const aside = keepRemovedText(path, formatRecords(header, rows.slice(count)));
    warn(`csv: moved ${rows.length - count} rows past step ${startedAt} to ${aside}`);
  }
  const columns = [...(startedAt === 0 ? FIXED : header)];
  const kept = formatRecords(columns, rows.slice(0, count));
  if (kept !== text) replaceFile(path, kept);
  return columns;
}

function checkColumns(path: string, columns: readonly string[]): void {
  if (FIXED.some((name, i) => columns[i] !== name)) {
    const got = `${path} with ${show(columns)}`;
    fail('csv', `columns that begin with ${FIXED.join(', ')}`, got, 'Log into another directory.');
  }
}
