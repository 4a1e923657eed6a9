import { CoplayError } from '@coplay/core';

// Bundlers for browsers look for modules by their literal names, and these are only there in Node.
const FS = 'node:fs/promises';
const CRYPTO = 'node:crypto';

/** Node's file system. */
export async function nodeFs() {
  return (await import(FS)) as typeof import('node:fs/promises');
}

/** The SHA-256 of pieces that follow each other, in hexadecimal. */
export async function sha256(pieces: readonly (Uint8Array | string)[]): Promise<string> {
  const { createHash } = (await import(CRYPTO)) as typeof import('node:crypto');
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

/** Runs a task that the system may refuse, and throws a CoplayError with the system's reason then. */
export async function attempt<T>(where: string, what: string, remedy: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const got = error instanceof Error ? error.message : String(error);
    throw new CoplayError({ where, expected: `to ${what}`, got, remedy }, { cause: error });
  }
}

/** Whether the system says that a file isn't there. */
export function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
