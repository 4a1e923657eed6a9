import { fail } from '../errors';

/*
 * Stands for `@coplay/core/node` where code is bundled for a browser. There are no files there: a function that needs
 * them says so when it's called, and everything else of a package works.
 */

/** Refuses. */
export function writeWhole(_path: string, _content: unknown, { where = 'writeWhole' }: { where?: string } = {}): never {
  return refuse(where);
}

/** Refuses. */
export function writeWholeSync(_path: string, _content: unknown, { where = 'writeWholeSync' } = {}): never {
  return refuse(where);
}

/** Refuses. */
export function takeLock(where: string): never {
  return refuse(where);
}

/** Refuses. */
export function lockDirectory(where: string): never {
  return refuse(where);
}

/** Refuses. */
export function fileName(): never {
  return refuse('fileName');
}

/** Refuses. */
export function writeAllSync(): never {
  return refuse('writeAllSync');
}

/** A page has no end that code could wait for. */
export function atProcessEnd(): () => void {
  return () => undefined;
}

/** No file has this name. */
export const TEMPORARY_ENDING: RegExp = /(?!)/;

export { codeOf, writeError } from './file-errors';

function refuse(where: string): never {
  return fail(where, 'Node, to write a file', 'a browser', 'Take the bytes, and keep them by means of the browser.');
}
