import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** This module; the CommonJS build has no `import.meta`. */
const HERE = import.meta.url ?? pathToFileURL(__filename).href;

/** The text of a template, by its path in the folder `templates`, which is next to `src` and `dist`. */
export function template(path: string): string {
  return readFileSync(new URL(`../templates/${path}`, HERE), 'utf8');
}
