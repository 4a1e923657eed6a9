import { CoplayError } from '@coplay/core';
import { codeOf } from './file-system';

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'disk full',
  EDQUOT: 'disk quota used up',
  EROFS: 'read-only file system',
  EACCES: 'no permission to write there',
  EPERM: 'no permission to write there',
  ENOTDIR: 'a file where a directory should be',
  EEXIST: 'a file where a directory should be',
  EMFILE: 'too many open files',
  EIO: 'the disk failed',
};

/**
 * The error for a file that could not be written: says the reason in words, beside the system's.
 *
 * @param where   the function that was called
 * @param what    what could not be written, with its path
 * @param error   what the file system threw
 * @param remedy  what to do, and what is still intact
 */
export function writeError(where: string, what: string, error: unknown, remedy: string): CoplayError {
  const said = error instanceof Error ? error.message : String(error);
  const reason = REASONS[codeOf(error)];
  const got = reason === undefined ? said : `${reason} (${said})`;
  return new CoplayError({ where, expected: `to write ${what}`, got, remedy }, { cause: error });
}
