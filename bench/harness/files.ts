import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file under another name first, so that it is there in full or not at all. */
export function writeWhole(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
}

/** Writes data as JSON. */
export function writeJson(path: string, data: unknown): void {
  writeWhole(path, `${JSON.stringify(data, null, 2)}\n`);
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
