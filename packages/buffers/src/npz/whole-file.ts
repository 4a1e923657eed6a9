// Bundlers for browsers look for modules by their literal names, and these are only there in Node.
const FS = 'node:fs/promises';
const PATH = 'node:path';

/** The largest piece given to one system call: Node limits them to 2 GiB. */
const PIECE = 2 ** 30;

/** How the names of files end whose writing was broken off by a kill. */
export const BROKEN_OFF = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

type Fs = typeof import('node:fs/promises');

/**
 * Writes a file that appears whole or not at all: it's written beside its place, synced and renamed. What fails leaves the file that was there before,
 * and nothing else. Node only.
 *
 * @param parts  of its contents, one after another
 * @returns bytes
 */
export async function writeWhole(path: string, parts: readonly Uint8Array[]): Promise<number> {
  const fs = (await import(FS)) as Fs;
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
  } catch (error) {
    await fs.rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(fs, path);
  return parts.reduce((sum, part) => sum + part.length, 0);
}

async function writeAll(file: import('node:fs/promises').FileHandle, bytes: Uint8Array): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await file.write(bytes, done, Math.min(PIECE, bytes.length - done));
    done += bytesWritten;
  }
}

/** Makes the rename last through a power cut; not possible on every system, and then left to the system. */
async function syncDirectory(fs: Fs, path: string): Promise<void> {
  const { dirname } = (await import(PATH)) as typeof import('node:path');
  try {
    const directory = await fs.open(dirname(path), 'r');
    await directory.sync().finally(() => directory.close());
  } catch {
    // Windows can't open directories.
  }
}
