import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '@coplay/core';
import { LockedFile, replaceFile } from './files';
import { checkEntry, checkFileLog, checkStart, type FileLogOptions } from './options';
import { keepRemovedText } from './removed-text';
import { countKept, formatRow, parseRows } from './rows';

/**
 * Writes each entry as one line of `directory/log.jsonl`: `{"envSteps":2048,"update":1,"policy/loss":0.1}`.
 *
 * When a run goes on from an earlier step, rows past that step are moved to `log.old-1.jsonl` (then 2, 3, ...), so that
 * the log never holds the same step twice; a run that starts at 0 moves all of them. A last line that a kill tore is
 * cut off.
 *
 * @throws CoplayError for a directory that is no path, and for a log with damage before its last line
 */
export function jsonLines(directory: string, options: FileLogOptions = {}): Log {
  const { warn } = checkFileLog('jsonLines', directory, options);
  const path = join(directory, 'log.jsonl');
  const file = new LockedFile('jsonLines', path);
  return {
    start(info) {
      const startedAt = checkStart('jsonLines', info);
      file.start(() => repair(path, startedAt, warn));
    },
    write: (entry) => file.open.append(formatRow(checkEntry('jsonLines', entry))),
    close: () => file.close(),
  };
}

/** Leaves the whole rows up to `startedAt` in the file. */
function repair(path: string, startedAt: number, warn: (message: string) => void): void {
  if (!existsSync(path)) return;
  const text = readFileSync(path, 'utf8');
  const { entries, torn } = parseRows(text, path);
  if (torn !== '') warn(`jsonLines: cut off a torn line at the end of ${path} (${torn.length} characters)`);
  const count = countKept(
    entries.map((entry) => entry.envSteps),
    startedAt,
  );
  if (count < entries.length) {
    const aside = keepRemovedText(path, entries.slice(count).map(formatRow).join(''));
    warn(`jsonLines: moved ${entries.length - count} rows past step ${startedAt} to ${aside}`);
  }
  const kept = entries.slice(0, count).map(formatRow).join('');
  if (kept !== text) replaceFile(path, kept);
}
