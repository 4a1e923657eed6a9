import { CoplayError } from '../errors';

/** The meaning of a system's error codes. */
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'disk full',
  EDQUOT: 'disk quota used up',
  EROFS: 'read-only file system',
  EACCES: 'no permission to write there',
  EPERM: 'no permission to write there',
  ENOENT: 'no such directory',
  ENOTDIR: 'a file where a directory should be',
  EEXIST: 'a file where a directory should be',
  EISDIR: 'a directory of that name',
  ENAMETOOLONG: 'a name that is too long',
  EMFILE: 'too many open files',
  EIO: 'the disk failed',
};

/**
 * The error for a file that could not be written: it gives the reason in words, and the system's message.
 *
 * @param where     the function that was called
 * @param expected  the task that failed: `to write runs/a/report.html`
 * @param error     the system's error
 * @param remedy    how to mend it, and what is still intact
 */
export function writeError(where: string, expected: string, error: unknown, remedy: string): CoplayError {
  if (error instanceof CoplayError) return error;
  const said = error instanceof Error ? error.message : String(error);
  const reason = Object.hasOwn(REASONS, codeOf(error)) ? REASONS[codeOf(error)] : undefined;
  const got = reason === undefined ? said : `${reason} (${said})`;
  return new CoplayError({ where, expected, got, remedy }, { cause: error });
}

/** The code of a system's error, such as `ENOENT`; '' for any other value. */
export function codeOf(error: unknown): string {
  const code: unknown = error !== null && typeof error === 'object' && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}
