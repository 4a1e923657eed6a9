import { z } from 'zod';
import { checkOptions, fail, show } from './errors';

/** What {@link parseJson} takes. */
export interface ParseJsonOptions {
  /** Lists and records inside one another, at most. Default 100 */
  readonly levels?: number;
  /** Length of the text, at most. Default 2^28 */
  readonly characters?: number;
  /** A description of the expected text. Default `JSON` */
  readonly expected?: string;
  /** What to do about a text that is refused. Default: to mend the file */
  readonly remedy?: string;
}

const optionsSchema = z.strictObject({
  levels: z.int().min(0).default(100),
  characters: z
    .int()
    .min(0)
    .default(2 ** 28),
  expected: z.string().default('JSON'),
  remedy: z.string().default('Mend the file, or give another one.'),
});

/**
 * The value of a JSON text from an untrusted source: `JSON.parse`, but a text that is too long or nested too deeply is
 * refused, since functions that call themselves for each level would run out of stack. A key `__proto__` is a key like
 * any other.
 *
 * @param where  a name of the text, for messages
 * @throws CoplayError if the text isn't JSON or exceeds the bounds
 */
export function parseJson(where: string, text: string, options: ParseJsonOptions = {}): unknown {
  if (typeof where !== 'string') fail('parseJson: where', 'a text', show(where), 'Name the text that is read.');
  const { levels, characters, expected, remedy } = checkOptions('parseJson', optionsSchema, options);
  if (typeof text !== 'string') fail(`${where}: parseJson`, 'a text of JSON', show(text), remedy);
  if (text.length > characters)
    fail(where, `${expected} of at most ${characters} characters`, `${text.length}`, remedy);
  if (isDeeper(text, levels)) fail(where, `${expected} of at most ${levels} levels`, 'a deeper nesting', remedy);
  try {
    return JSON.parse(text);
  } catch (error) {
    return fail(where, expected, String(error), remedy);
  }
}

/** Whether more brackets than `levels` are open at once anywhere in a text of JSON. */
function isDeeper(text: string, levels: number): boolean {
  let open = 0;
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isString) {
      if (character === '\\') i++;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '[' || character === '{') {
      if (++open > levels) return true;
    } else if (character === ']' || character === '}') open--;
  }
  return false;
}

// A string with the colon that makes it a key, or a bracket. Outside strings JSON has brackets only as structure.
const TOKENS = /("(?:[^"\\]+|\\.)*")(\s*:)?|[{}[\]]/g;

/**
 * The first key that an object of a JSON text has twice. `JSON.parse` keeps the last one without a word, so that two
 * readers of one file could see different things.
 *
 * @param json  valid JSON
 * @returns undefined if no object repeats a key
 */
export function repeatedKey(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, text, colon] of json.matchAll(TOKENS)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(text) as string;
      const keys = open[open.length - 1];
      if (keys.has(key)) return key;
      keys.add(key);
    }
  }
  return undefined;
}
