import { CoplayError, fail } from '@coplay/core';
import { nodeModule } from '../compile/environment';

let counter = 0;

/**
 * Writes a file so that a reader finds the old content or the new one, never a part. Node's modules are loaded here, when they are
 * needed: a browser can import the package without them.
 *
 * @throws CoplayError if it can't be written; the old content is still there then
 */
export async function writeFile(where: string, path: string, pieces: readonly Uint8Array[]): Promise<void> {
  const fs = await nodeModule<typeof import('node:fs/promises')>('node:fs/promises').catch(() =>
    fail(where, 'Node, to write a file', 'a browser', 'Take the bytes: await toOnnx(fn, options).'),
  );
  const temporary = `${path}.writing-${process.pid}-${counter++}`;
  try {
    const handle = await fs.open(temporary, 'wx');
    try {
      for (const piece of pieces) await handle.writeFile(piece);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await fs.rename(temporary, path);
  } catch (error) {
    await fs.rm(temporary, { force: true }).catch(() => undefined);
    const got = error instanceof Error ? error.message : String(error);
    const remedy = 'What was there before is intact: mend that and export again.';
    throw new CoplayError({ where, expected: `to write ${path}`, got, remedy }, { cause: error });
  }
}
