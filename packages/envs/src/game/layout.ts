import { fail, show } from '@coplay/core';
import type { Grid } from './grid';

/** A place on the grid as people write it; rows count from the top, both from 0. */
export type Place = readonly [row: number, column: number];

/** The content of a text map: the cells of each character, in reading order, and the notes below the map. */
export interface TextMap {
  readonly cells: ReadonlyMap<string, readonly number[]>;
  /** `steps: 3` below the map is the note steps with the text 3. */
  readonly notes: ReadonlyMap<string, string>;
}

/** A free cell in a text map. */
const FREE = '.';

/**
 * Reads a text map: one line a row and one character a cell, then lines `name: value`. Blank lines, and blanks around
 * a line, don't count.
 *
 * @param where    the function that reads, for messages
 * @param symbols  the characters that may occur in addition to `.`
 * @throws CoplayError for a map of another size or an unknown character
 */
export function parseMap(where: string, text: string, grid: Grid, symbols: string): TextMap {
  const lines = text.split('\n').map((line) => line.trim());
  const isNote = (line: string) => line.includes(':');
  const picture = lines.filter((line) => line !== '' && !isNote(line));
  if (picture.length !== grid.rows || picture.some((line) => line.length !== grid.columns)) {
    const got = `${picture.length} lines of ${[...new Set(picture.map((line) => line.length))].join(' and ') || 'no'} characters`;
    fail(where, `a map of ${grid.rows} lines of ${grid.columns} characters`, got, 'Write one character for each cell.');
  }
  const cells = new Map<string, number[]>();
  [...picture.join('')].forEach((symbol, cell) => {
    if (symbol === FREE) return;
    if (!symbols.includes(symbol)) {
      const got = `${show(symbol)} in row ${Math.floor(cell / grid.columns)}, column ${cell % grid.columns}`;
      fail(where, `the characters ${FREE}${symbols}`, got, 'Change that character.');
    }
    cells.set(symbol, [...(cells.get(symbol) ?? []), cell]);
  });
  const notes = lines.filter(isNote).map(splitNote);
  const again = notes.find(([name], i) => notes.findIndex(([other]) => other === name) < i);
  if (again) fail(where, 'each line below the map once', `${show(again[0])} twice`, 'Remove one of them.');
  return { cells, notes: new Map(notes) };
}

/** The number of a note's text, or the text itself where it is none: the check of the layout then shows it. */
export function countOf(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}

function splitNote(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

/**
 * Draws a text map.
 *
 * @param things  character and cell of each thing
 * @returns lines joined by line ends, or undefined where two things share a cell
 */
export function drawMap(grid: Grid, things: Iterable<readonly [symbol: string, cell: number]>): string | undefined {
  const picture = new Array<string>(grid.cells).fill(FREE);
  for (const [symbol, cell] of things) {
    if (picture[cell] !== FREE) return undefined;
    picture[cell] = symbol;
  }
  const lines = Array.from({ length: grid.rows }, (_, row) =>
    picture.slice(row * grid.columns, (row + 1) * grid.columns),
  );
  return lines.map((line) => line.join('')).join('\n');
}

/**
 * The cell of a place. @throws CoplayError for a place outside the grid, naming the thing `what` that was to stand
 * there
 */
export function cellOf(where: string, what: string, [row, column]: Place, grid: Grid): number {
  if (row < 0 || column < 0 || row >= grid.rows || column >= grid.columns) {
    const range = `${what} at [row, column] from [0, 0] to [${grid.rows - 1}, ${grid.columns - 1}]`;
    fail(where, range, show([row, column]), 'Rows count from the top, columns from the left, both from 0.');
  }
  return row * grid.columns + column;
}

/** The place of a cell. */
export function placeOf(cell: number, grid: Grid): Place {
  return [Math.floor(cell / grid.columns), cell % grid.columns];
}
