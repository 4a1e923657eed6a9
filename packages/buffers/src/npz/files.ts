import { CoplayError } from '@coplay/core';
import { checkArgument, checkText, namedArrays } from '@coplay/core/checks';
import { writeWhole } from '@coplay/core/node';
import type { ReadNpzOptions, StoredArrays } from './npz';
import { decodeNpz, npzParts } from './npz';

// Bundlers for browsers look for modules by their literal names, and this one is only there in Node.
const SYNC_FS = 'node:fs';

/** The largest piece given to one system call: Node limits them to 2 GiB. */
const PIECE = 2 ** 30;

/**
 * Writes named arrays to a .npz file that numpy reads. The file appears whole or not at all. Node only.
 *
 * @throws CoplayError naming the path, where it can't be written; a file that was there before is untouched
 */
export async function saveNpz(path: string, arrays: Readonly<StoredArrays>): Promise<void> {
  checkText('saveNpz', 'path', path);
  checkArgument('saveNpz', 'arrays', namedArrays, arrays);
  const remedy = 'Mend the cause and save again; the previous file is intact.';
  await writeWhole(path, npzParts(arrays), { where: 'saveNpz', remedy });
}

/**
 * Reads a .npz file, array by array. Node only; elsewhere give the bytes to {@link decodeNpz}.
 *
 * @throws CoplayError naming the path and, if there is one, the array that is damaged or of an unknown type
 */
export async function loadNpz(path: string, options: ReadNpzOptions = {}): Promise<StoredArrays> {
  checkText('loadNpz', 'path', path);
  const fs = (await import(SYNC_FS)) as typeof import('node:fs');
  let file: number;
  try {
    file = fs.openSync(path, 'r');
  } catch (error) {
    refuse('loadNpz', `to read ${path}`, error, 'Check the path.');
  }
  try {
    const read = (offset: number, length: number) => readAll(fs, file, offset, length);
    return decodeNpz({ size: fs.fstatSync(file).size, read }, `loadNpz(${path})`, options);
  } finally {
    fs.closeSync(file);
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

function refuse(where: string, expected: string, error: unknown, remedy: string): never {
  throw new CoplayError({ where, expected, got: (error as Error).message, remedy }, { cause: error });
}
