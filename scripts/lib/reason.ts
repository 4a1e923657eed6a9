import { stripVTControlCharacters } from 'node:util';

/** Lines of the end of an output, and of what names its failures, that are shown. */
const [LAST, NAMED] = [60, 200];

/**
 * Why a program failed, from its output: first the lines that name failures (vitest's ` FAIL ` lines with the error
 * below them, up to an empty line), then the last 60 lines. A log that is cut after a while tells it still.
 */
export function reasonOf(output: string): string {
  const lines = stripVTControlCharacters(output).trimEnd().split('\n');
  const named = namedFailures(lines);
  const last = lines.slice(-LAST);
  const dots = last.length < lines.length ? [`... the last ${LAST} of ${lines.length} lines:`] : [];
  return [...named.slice(0, NAMED), ...dots, ...last].join('\n');
}

function namedFailures(lines: readonly string[]): string[] {
  const named: string[] = [];
  let isInside = false;
  for (const line of lines) {
    isInside = /^\s*FAIL\s/.test(line) || (isInside && line.trim() !== '');
    if (isInside) named.push(line);
  }
  return named;
}
