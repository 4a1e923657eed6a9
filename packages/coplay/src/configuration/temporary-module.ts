import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CoplayError } from '@coplay/core';
import { atProcessEnd } from '@coplay/core/node';

/** Names of temporary modules; the number is that of the process that wrote them. */
const NAME = /^\.coplay-(\d+)-[\da-f-]+\.[cm]js$/;

/**
 * Writes a temporary module, calls `use` with its path, and deletes it, even on a signal. Also deletes the modules of
 * killed processes.
 *
 * @param ending  of its name: `mjs`
 * @throws CoplayError for a folder that can't be written to
 */
export async function withTemporaryModule<T>(
  folder: string,
  text: string,
  ending: string,
  use: (module: string) => Promise<T>,
): Promise<T> {
  // The name can't be guessed, so no one can put a file or a link there before.
  const module = join(folder, `.coplay-${process.pid}-${randomUUID()}.${ending}`);
  const remove = () => rmSync(module, { force: true });
  write(folder, module, text);
  const takeBack = atProcessEnd(remove);
  try {
    return await use(module);
  } finally {
    remove();
    takeBack();
  }
}

function write(folder: string, module: string, text: string): void {
  try {
    for (const name of readdirSync(folder)) if (isLeft(name)) rmSync(join(folder, name), { force: true });
    writeFileSync(module, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const got = (error as Error).message;
    const remedy =
      'It is compiled into that folder for a moment: copy the file to one of the project that can be written.';
    const complaint = { where: 'coplay', expected: `to write to ${folder}, where the configuration is`, got, remedy };
    throw new CoplayError(complaint, { cause: error });
  }
}

/** Whether it's a temporary module whose process has ended. */
function isLeft(name: string): boolean {
  const pid = NAME.exec(name)?.[1];
  if (pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
