import { fail } from '@coplay/core';
import { codeOf, writeWhole } from '@coplay/core/node';

/**
 * What checkpoints and run directories need of a file system; {@link nodeFileSystem} is one. Errors carry a `code` such
 * as `ENOSPC`, as Node's do. Give another one to try what happens when writing fails.
 */
export interface FileSystem {
  /** Makes a directory and its parents, for good; fine if it's there. */
  makeDirectory(path: string): Promise<void>;
  /** The names in a directory, in any order; none if it isn't there. */
  list(path: string): Promise<readonly string[]>;
  /** A whole file. */
  read(path: string): Promise<Uint8Array>;
  /** Writes a file whole or not at all, over an older one if there is one, and resolves when it's on the disk. */
  write(path: string, pieces: Iterable<Uint8Array>): Promise<void>;
  /** Gives a file or directory another name, in one step. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a directory with all that's in it; fine if it isn't there. */
  remove(path: string): Promise<void>;
  /** Resolves when the names in a directory are on the disk. */
  syncDirectory(path: string): Promise<void>;
}

// Node reads and hashes at most 2 GiB at once.
const PIECE_BYTES = 1 << 30;

/**
 * The file system of the machine. Node's modules are loaded here, when they are needed: a browser can import the
 * package without them.
 */
export async function nodeFileSystem(): Promise<FileSystem> {
  const fs = await import('node:fs/promises').catch(() => noNode());
  const { dirname, resolve } = await import('node:path').catch(() => noNode());

  async function syncDirectory(path: string): Promise<void> {
    // Windows has no handles of directories; it keeps their names safe itself.
    if (process.platform === 'win32') return;
    const handle = await fs.open(path, 'r');
    try {
      await handle.sync();
    } catch (error) {
      // Some network file systems sync no directories.
      if (codeOf(error) !== 'EINVAL' && codeOf(error) !== 'ENOTSUP') throw error;
    } finally {
      await handle.close();
    }
  }

  async function makeDirectory(path: string): Promise<void> {
    const first = await fs.mkdir(resolve(path), { recursive: true });
    if (first === undefined) return;
    // Each new directory is a name in its parent.
    let made = resolve(path);
    while (made.length >= first.length) {
      made = dirname(made);
      await syncDirectory(made);
    }
  }

  async function list(path: string): Promise<readonly string[]> {
    try {
      return await fs.readdir(path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  async function read(path: string): Promise<Uint8Array> {
    const handle = await fs.open(path, 'r');
    try {
      const bytes = new Uint8Array((await handle.stat()).size);
      for (let done = 0; done < bytes.length; ) {
        const { bytesRead } = await handle.read(bytes, done, Math.min(bytes.length - done, PIECE_BYTES));
        if (bytesRead === 0) return bytes.subarray(0, done);
        done += bytesRead;
      }
      return bytes;
    } finally {
      await handle.close();
    }
  }

  return {
    makeDirectory,
    list,
    read,
    write: async (path, pieces) => {
      await writeWhole(path, pieces, { where: 'checkpoint' });
    },
    rename: fs.rename,
    remove: (path) => fs.rm(path, { recursive: true, force: true }),
    syncDirectory,
  };
}

/** The SHA-256 of pieces that follow each other, in hexadecimal. */
export async function sha256(pieces: readonly Uint8Array[]): Promise<string> {
  const { createHash } = await import('node:crypto').catch(() => noNode());
  const hash = createHash('sha256');
  for (const piece of pieces) {
    for (let begin = 0; begin < piece.length; begin += PIECE_BYTES) {
      hash.update(piece.subarray(begin, begin + PIECE_BYTES));
    }
  }
  return hash.digest('hex');
}

function noNode(): never {
  fail('checkpoint', 'Node', 'a browser', 'Train in Node, or keep the state yourself with flattenState.');
}
