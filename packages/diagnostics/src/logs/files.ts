import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Lock, takeLock, writeAllSync, writeError, writeWholeSync } from '@coplay/core/node';
import { notStarted } from './options';

/** A file that only grows, by whole pieces. */
export interface AppendFile {
  readonly path: string;
  /** Writes all of `data` before it returns; after a failure the file ends where it ended before. */
  append(data: string | Uint8Array): void;
  close(): void;
}

const REMEDY = 'The file holds all that was logged before. Free the disk, or log elsewhere.';

/**
 * Opens a file for appending and makes its folder.
 *
 * @param flags  `a` creates the file where there is none, `ax` refuses one that is there
 */
export function openAppend(path: string, flags: 'a' | 'ax' = 'a'): AppendFile {
  let file: number;
  try {
    mkdirSync(dirname(path), { recursive: true });
    file = openSync(path, flags);
  } catch (error) {
    throw writeError('log', `to write ${path}`, error, 'Mend the cause, or log elsewhere.');
  }
  return {
    path,
    append: (data) => appendWhole(file, path, typeof data === 'string' ? Buffer.from(data) : data),
    close: () => closeSync(file),
  };
}

/** A piece that a full disk cut off must not stay: the next row would be read as its continuation. */
function appendWhole(file: number, path: string, data: Uint8Array): void {
  const before = fstatSync(file).size;
  try {
    writeAllSync(file, data);
  } catch (cause) {
    ftruncateSync(file, before);
    throw writeError('log', `to append ${data.length} bytes to ${path}`, cause, REMEDY);
  }
}

/** Replaces a file at once, or makes it and its folder. */
export function replaceFile(path: string, text: string): void {
  writeWholeSync(path, text, { where: 'log', makeFolder: true, remedy: REMEDY });
}

/** A log's file that this process alone may write: two that append to one file would write every step twice. */
export class LockedFile {
  private file: AppendFile | undefined;
  private lock: Lock | undefined;

  /** @param where  the log whose file it is, for messages */
  constructor(
    private readonly where: string,
    private readonly path: string,
  ) {}

  /** The open file. @throws CoplayError where the log was not started, or is closed */
  get open(): AppendFile {
    return this.file ?? notStarted(this.where);
  }

  /**
   * Takes the lock, lets `repair` mend the file's content, and opens it.
   *
   * @throws CoplayError that names the process that holds the lock
   */
  start(repair: () => void): void {
    this.close();
    this.lock = takeLogLock(this.where, this.path);
    try {
      repair();
      this.file = openAppend(this.path);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Replaces all that the file holds; it stays open. */
  replace(text: string): void {
    replaceFile(this.path, text);
    this.open.close();
    this.file = openAppend(this.path);
  }

  close(): void {
    this.file?.close();
    this.file = undefined;
    this.lock?.release();
    this.lock = undefined;
  }
}

function takeLogLock(where: string, path: string): Lock {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    throw writeError(where, `to write ${path}`, error, 'Mend the cause, or log elsewhere.');
  }
  return takeLock(where, path, `the log ${path}`);
}
