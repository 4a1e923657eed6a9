import { randomUUID } from 'node:crypto';
import * as sync from 'node:fs';
import * as fs from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { writeError } from './file-errors';

/** A file's content: text, bytes, or pieces of bytes in their order. */
export type FileContent = string | Uint8Array | Iterable<Uint8Array>;

/** Options of {@link writeWhole}. */
export interface WriteOptions {
  /** The function that an error names. Default `writeWhole` */
  readonly where?: string;
  /** The remedy in an error. Default: to mend the cause; the previous file is intact */
  readonly remedy?: string;
  /** Whether the file's folder is made where there is none. Default false */
  readonly makeFolder?: boolean;
}

/** The largest piece given to one system call: Node limits them to 2 GiB. */
const PIECE_BYTES = 2 ** 30;

/** File systems allow names of 255 bytes; a temporary name adds 41 to the file's own. */
const LONGEST_NAME_BYTES = 255 - 41;

/** How the temporary names of {@link writeWhole} end; a file with such a name was left by a process that was killed. */
export const TEMPORARY_ENDING = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

const REMEDY = 'Mend the cause and write again; the previous file is intact.';

/**
 * Writes a file that appears whole or not at all, also where the process is killed or the power fails: the content goes
 * to a temporary file in the same folder, is forced to the disk, and then gets its name. Where the path is a symbolic
 * link, the file that it leads to is replaced.
 *
 * Node only, and so is all of `@coplay/core/node`.
 *
 * @param path  of the file; an existing file is replaced
 * @returns bytes written
 * @throws CoplayError that names the path and the reason; a file that was there before is untouched, and the temporary
 *         file is removed
 */
export async function writeWhole(path: string, content: FileContent, options: WriteOptions = {}): Promise<number> {
  const { where = 'writeWhole', remedy = REMEDY, makeFolder = false } = options;
  try {
    if (makeFolder) await fs.mkdir(dirname(path), { recursive: true });
    const place = placeOf(path);
    return await throughTemporary(place, content);
  } catch (error) {
    throw writeError(where, `to write ${path}`, error, remedy);
  }
}

/** {@link writeWhole}, before it returns: for small files where nothing can be awaited. */
export function writeWholeSync(path: string, content: FileContent, options: WriteOptions = {}): number {
  const { where = 'writeWhole', remedy = REMEDY, makeFolder = false } = options;
  try {
    if (makeFolder) sync.mkdirSync(dirname(path), { recursive: true });
    return throughTemporarySync(placeOf(path), content);
  } catch (error) {
    throw writeError(where, `to write ${path}`, error, remedy);
  }
}

async function throughTemporary(place: string, content: FileContent): Promise<number> {
  const temporary = temporaryFor(place);
  try {
    const file = await fs.open(temporary, 'wx');
    let bytes = 0;
    try {
      for (const piece of piecesOf(content)) bytes += await writeAll(file, piece);
      await file.sync();
    } finally {
      await file.close();
    }
    await fs.rename(temporary, place);
    syncFolder(dirname(place));
    return bytes;
  } catch (error) {
    // The first failure is the one to tell.
    await fs.rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

function throughTemporarySync(place: string, content: FileContent): number {
  const temporary = temporaryFor(place);
  try {
    const file = sync.openSync(temporary, 'wx');
    let bytes = 0;
    try {
      for (const piece of piecesOf(content)) bytes += writeAllSync(file, piece);
      sync.fsyncSync(file);
    } finally {
      sync.closeSync(file);
    }
    sync.renameSync(temporary, place);
    syncFolder(dirname(place));
    return bytes;
  } catch (error) {
    try {
      sync.rmSync(temporary, { force: true });
    } catch {
      // The first failure is the one to tell.
    }
    throw error;
  }
}

async function writeAll(file: fs.FileHandle, bytes: Uint8Array): Promise<number> {
  let done = 0;
  while (done < bytes.length) {
    done += (await file.write(bytes, done, Math.min(PIECE_BYTES, bytes.length - done))).bytesWritten;
  }
  return done;
}

/** Writes all of `bytes` to an open file: one call to the system may write only a part. Returns their number. */
export function writeAllSync(file: number, bytes: Uint8Array): number {
  let done = 0;
  while (done < bytes.length) done += sync.writeSync(file, bytes, done, Math.min(PIECE_BYTES, bytes.length - done));
  return done;
}

function piecesOf(content: FileContent): Iterable<Uint8Array> {
  if (typeof content === 'string') return [new TextEncoder().encode(content)];
  return ArrayBuffer.isView(content) ? [content] : content;
}

/** The path that is to be replaced. A device would be lost to the whole machine if it were replaced. */
function placeOf(path: string): string {
  const found = sync.statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return path;
  if (found.isDirectory()) throw Object.assign(new Error(`EISDIR: ${path} is a directory`), { code: 'EISDIR' });
  if (!found.isFile()) throw new Error(`${path} is a device, a pipe or a socket, which can't be replaced`);
  return sync.realpathSync(path);
}

/**
 * A name that no other process uses. A process number isn't enough: in a container the next process often has the same
 * one.
 */
function temporaryFor(place: string): string {
  const name = basename(place);
  const isLong = new TextEncoder().encode(name).length > LONGEST_NAME_BYTES;
  return join(dirname(place), `${isLong ? '' : name}.${randomUUID()}.tmp`);
}

/**
 * Makes the new name last through a power cut. The file is in place by now, so where a system can't do it, that is no
 * failure.
 */
function syncFolder(path: string): void {
  try {
    const folder = sync.openSync(path, 'r');
    try {
      sync.fsyncSync(folder);
    } finally {
      sync.closeSync(folder);
    }
  } catch {
    // Windows can't open folders, and some network file systems can't sync them.
  }
}
