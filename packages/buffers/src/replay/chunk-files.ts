import { CoplayError, type NamedArrays } from '@coplay/core';
import { dtypeOf } from '@coplay/core/arrays';
import { oneAtATime } from '@coplay/core/checks';
import { writeWhole } from '@coplay/core/node';
import { loadNpz } from '../npz';
import { npzParts } from '../npz/npz';
import type { ChunkFile } from './chunk-index';
import { nodeFs, sha256 } from './node-modules';

/**
 * Runs saves and loads of this process one at a time: a save must not remove what another one is about to name.
 * Directories aren't told apart, since links give one of them several names.
 */
export const inTurn = oneAtATime();

/**
 * The SHA-256 of what rows are: names, dtypes, shapes and values. Quicker than that of a file, which would have to be
 * made first.
 */
export async function checksumOf(rows: NamedArrays): Promise<string> {
  const fields = Object.entries(rows).map(([name, { data, shape }]) => [name, dtypeOf(data), shape]);
  const values = Object.values(rows).map(({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return sha256([JSON.stringify(fields), ...values]);
}

/** A file of rows of a stream that begin with the step `first`, as it is to be. */
export async function fileOf(stream: number, first: number, rows: NamedArrays): Promise<Omit<ChunkFile, 'bytes'>> {
  const checksum = await checksumOf(rows);
  return { name: `stream-${stream}-step-${first}-${checksum.slice(0, 16)}.npz`, sha256: checksum, first };
}

/** Whether a file is there in its full length. */
export async function isWhole(directory: string, { name, bytes }: ChunkFile): Promise<boolean> {
  const fs = await nodeFs();
  const found = await fs.stat(`${directory}/${name}`).catch(() => undefined);
  return found?.isFile() === true && found.size === bytes;
}

/** Writes a file, whole or not at all. */
export async function writeChunk(
  directory: string,
  file: Omit<ChunkFile, 'bytes'>,
  rows: NamedArrays,
): Promise<ChunkFile> {
  const path = `${directory}/${file.name}`;
  const remedy = 'Mend the cause and save again.';
  const bytes = await writeWhole(path, npzParts(rows), { where: 'saveReplay', remedy });
  return { ...file, bytes };
}

/**
 * The rows of a file.
 *
 * @param where  who asks, for messages
 * @throws CoplayError naming the file, where it's missing or not as it was written
 */
export async function readChunk(where: string, directory: string, file: ChunkFile): Promise<NamedArrays> {
  const path = `${directory}/${file.name}`;
  const rows = await loadNpz(path).catch((error: unknown) => refuse(where, path, reasonOf(error), error));
  if ((await checksumOf(rows)) !== file.sha256) refuse(where, path, 'other contents (the checksum differs)');
  return rows;
}

function reasonOf(error: unknown): string {
  return error instanceof CoplayError ? error.complaint.got : String(error);
}

function refuse(where: string, path: string, got: string, cause?: unknown): never {
  const remedy = 'Take it from a copy, or leave its steps out with loadReplay(directory, { onDamaged }).';
  throw new CoplayError({ where, expected: `the chunk ${path} as it was saved`, got, remedy }, { cause });
}
