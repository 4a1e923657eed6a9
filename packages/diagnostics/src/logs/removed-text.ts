import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { replaceFile } from './files';

/**
 * Keeps text that is removed from a log in a file of its own in the same folder, such as `log.old-1.jsonl`:
 * measurements are never deleted.
 *
 * @returns the path of that file
 */
export function keepRemovedText(path: string, text: string): string {
  const extension = extname(path);
  const stem = path.slice(0, path.length - extension.length);
  let number = 1;
  while (existsSync(`${stem}.old-${number}${extension}`)) number++;
  const aside = `${stem}.old-${number}${extension}`;
  replaceFile(aside, text);
  return aside;
}
