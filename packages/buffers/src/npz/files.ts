import { CoplayError } from '@coplay/core';
import type { StoredArrays } from './npz';
import { decodeNpz, npzParts } from './npz';

// Bundlers for browsers look for modules by their literal names, and these are only there in Node.
const FS = 'node:fs/promises';
const SYNC_FS = 'node:fs';
const PATH = 'node:path';

/** The largest piece given to one system call: Node limits them to 2 GiB. */
const PIECE = 2 ** 30;

/**
 * Writes named arrays to a .npz file that numpy reads. The file appears whole or not at all: it's written beside its
 * place, synced and renamed. Node only.
 *
 * @throws CoplayError naming the path, where it can't be written; a file that was there before is untouched
 */
export async function saveNpz(path: string, arrays: Readonly<StoredArrays>): Promise<void> {
  const fs = (await import(FS)) as typeof import('node:fs/promises');
  const parts = npzParts(arrays);
  // Not the process's number: in containers the next one has the same, and what a kill left behind would be in its way.
  const temporary = `${path}.${globalThis.crypto.randomUUID()}.tmp`;
  try {
    const file = await fs.open(temporary, 'wx');
    try {
      for (const part of parts) await writeAll(file, part);
      await file.sync();
    } finally {
      await file.close();
    }
    await fs.rename(temporary, path);
    await syncDirectory(fs, path);
  } catch (error) {
    await fs.rm(temporary, { force: true });
    refuse('saveNpz', `to write ${path}`, error, 'Mend the cause and save again; nothing was left behind.');
  }
}

/**
 * Reads a .npz file, array by array. Node only; elsewhere give the bytes to {@link decodeNpz}.
 *
 * @throws CoplayError naming the path and, if there is one, the array that is damaged or of an unknown type
 */
export async function loadNpz(path: string): Promise<StoredArrays> {
  const fs = (await import(SYNC_FS)) as typeof import('node:fs');
  let file: number;
  try {
    file = fs.openSync(path, 'r');
  } catch (error) {
    refuse('loadNpz', `to read ${path}`, error, 'Check the path.');
  }
  try {
    const read = (offset: number, length: number) => readAll(fs, file, offset, length);
    return decodeNpz({ size: fs.fstatSync(file).size, read }, `loadNpz(${path})`);
  } finally {
    fs.closeSync(file);
  }
}

async function writeAll(file: import('node:fs/promises').FileHandle, bytes: Uint8Array): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await file.write(bytes, done, Math.min(PIECE, bytes.length - done));
    done += bytesWritten;
  }
}

function readAll(fs: typeof import('node:fs'), file: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const read = fs.readSync(file, bytes, done, Math.min(PIECE, length - done), offset + done);
    if (read === 0) break;
    done += read;
  }
  return bytes;
}

/** Makes the rename last through a power cut; not possible on every system, and then left to the system. */
async function syncDirectory(fs: typeof import('node:fs/promises'), path: string): Promise<void> {
  const { dirname } = (await import(PATH)) as typeof import('node:path');
  try {
    const directory = await fs.open(dirname(path), 'r');
    await directory.sync().finally(() => directory.close());
  } catch {
    // Windows can't open directories.
  }
}

function refuse(where: string, expected: string, error: unknown, remedy: string): never {
  throw new CoplayError({ where, expected, got: (error as Error).message, remedy }, { cause: error });
}
