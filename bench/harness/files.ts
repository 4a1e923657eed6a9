import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { writeWholeSync } from '@coplay/core/node';

/** Writes a text to a file, whole or not at all. */
export function writeText(path: string, text: string): void {
  writeWholeSync(path, text, { where: 'harness', makeFolder: true });
}

/** Numbers that JSON has no word for. */
const NON_FINITE: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

/** Writes data as JSON, in which NaN and infinities are null. */
export function writeJson(path: string, data: unknown): void {
  writeText(path, `${JSON.stringify(data, null, 2)}\n`);
}

/**
 * Writes data for {@link readExact}: numbers that JSON has no word for are the strings 'NaN', 'Infinity' and
 * '-Infinity'.
 */
export function writeExact(path: string, data: unknown): void {
  const named = (_: string, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
  writeText(path, `${JSON.stringify(data, named, 2)}\n`);
}

/** Reads what {@link writeExact} wrote; undefined where there is no such file or no JSON in it. */
export function readExact(path: string): unknown {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8'), (_, value) => NON_FINITE.get(value) ?? value);
  } catch {
    return undefined;
  }
}

/** Makes room for a new run: the files of an earlier run become `PATH.old` and replace the previous `PATH.old`. */
export function setAside(path: string): void {
  if (!existsSync(path)) return;
  rmSync(`${path}.old`, { recursive: true, force: true });
  renameSync(path, `${path}.old`);
}
