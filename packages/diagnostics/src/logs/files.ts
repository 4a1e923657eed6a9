import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { CoplayError } from '@coplay/core';

/** A file that only grows, by whole pieces. */
export interface AppendFile {
  readonly path: string;
  /** Writes all of `data` before it returns; after a failure the file ends where it ended before. */
  append(data: string | Uint8Array): void;
  close(): void;
}

/** Opens a file for appending and makes its folder; it is created where there is none. */
export function openAppend(path: string): AppendFile {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'a');
  return {
    path,
    append: (data) => appendWhole(file, path, typeof data === 'string' ? Buffer.from(data) : data),
    close: () => closeSync(file),
  };
}

/** A piece that a full disk cut off must not stay: what is written next would be read as its continuation. */
function appendWhole(file: number, path: string, data: Uint8Array): void {
  const before = fstatSync(file).size;
  try {
    writeAll(file, data);
  } catch (cause) {
    ftruncateSync(file, before);
    refuse(`to append ${data.length} bytes to ${path}`, cause);
  }
}

function writeAll(file: number, data: Uint8Array): void {
  for (let done = 0; done < data.length; ) done += writeSync(file, data, done);
}

/** Replaces a file at once: whoever reads it, or kills us, sees the old text or the new one. */
export function replaceFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.tmp`;
  try {
    writeSynced(temporary, Buffer.from(text));
    renameSync(temporary, path);
  } catch (cause) {
    rmSync(temporary, { force: true });
    refuse(`to write ${text.length} characters to ${path}`, cause);
  }
}

function writeSynced(path: string, data: Uint8Array): void {
  const file = openSync(path, 'w');
  try {
    writeAll(file, data);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function refuse(expected: string, cause: unknown): never {
  const remedy = 'The file holds all that was logged before. Free the disk, or log elsewhere.';
  throw new CoplayError({ where: 'log', expected, got: (cause as Error).message, remedy }, { cause });
}
