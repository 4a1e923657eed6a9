import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { writeWholeSync } from '@coplay/core/node';

/** Writes a text to a file, whole or not at all. */
export function writeText(path: string, text: string): void {
  writeWholeSync(path, text, { where: 'harness', makeFolder: true });
}

/** Writes data as JSON. */
export function writeJson(path: string, data: unknown): void {
  writeText(path, `${JSON.stringify(data, null, 2)}\n`);
}

/** Reads JSON; undefined where there is no such file or no JSON in it. */
export function readJson(path: string): unknown {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Makes room for a new run: what an earlier one left becomes `PATH.old`, in place of what was called so before. */
export function setAside(path: string): void {
  if (!existsSync(path)) return;
  rmSync(`${path}.old`, { recursive: true, force: true });
  renameSync(path, `${path}.old`);
}
