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
