import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { CoplayError, fail } from '@coplay/core';

/**
 * Makes the folder of a file that is to be written, and sees whether it can be. The file itself stays as it is.
 *
 * @param flag  that named the file, for the message: `--out`
 * @throws CoplayError where it can't be written
 */
export function checkWritable(flag: string, file: string): void {
  const expected = 'a file that can be written';
  const remedy = 'Choose another.';
  if (file === '') fail(flag, expected, 'no name', remedy);
  try {
    mkdirSync(dirname(file), { recursive: true });
    accessSync(existsSync(file) ? file : dirname(file), constants.W_OK);
  } catch (error) {
    throw new CoplayError({ where: flag, expected, got: (error as Error).message, remedy }, { cause: error });
  }
  if (existsSync(file) && statSync(file).isDirectory()) fail(flag, expected, `${file}, a directory`, remedy);
}
