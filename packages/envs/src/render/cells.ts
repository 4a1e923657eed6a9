import { fail, type Scene, type SceneItem, show } from '@coplay/core';
import { checkCount, checkNumber, checkText } from '@coplay/core/checks';

/** Rows and columns that a scene may have. */
const MOST_LINES = 10_000;

/**
 * Refuses a value that isn't a scene, and things outside its grid. Without a schema, which would triple the script of a
 * replay.
 */
export function checkScene(where: string, scene: Scene): void {
  if (typeof scene !== 'object' || scene === null || !Array.isArray(scene.items)) {
    fail(`${where}: scene`, 'rows, columns and items', show(scene), 'Give what scene() of a game returned.');
  }
  const { rows, columns, items } = scene;
  checkNumber(where, 'scene.rows', rows, { min: 1, max: MOST_LINES, whole: true });
  checkNumber(where, 'scene.columns', columns, { min: 1, max: MOST_LINES, whole: true });
  Array.from(items).forEach((item, i) => {
    const name = `scene.items.${i}`;
    if (typeof item !== 'object' || item === null) fail(`${where}: ${name}`, 'a thing', show(item), 'Change it.');
    checkText(where, `${name}.kind`, item.kind);
    if (typeof item.symbol !== 'string') {
      fail(`${where}: ${name}.symbol`, 'a text', show(item.symbol), 'Change its symbol.');
    }
    checkCount(where, `${name}.row`, item.row);
    checkCount(where, `${name}.column`, item.column);
    if (item.row < rows && item.column < columns) return;
    const got = `row ${item.row}, column ${item.column}`;
    fail(`${where}: ${name}`, `a place in ${rows} rows and ${columns} columns`, got, 'Mend its place.');
  });
}

/** Cells that a picture may have. */
const MOST_CELLS = 1_000_000;

/**
 * [rows * columns] what lies in each cell, in reading order. @throws CoplayError for a scene that isn't a board of
 * cells
 */
export function itemsByCell({ rows, columns, items }: Scene): readonly (readonly SceneItem[])[] {
  if (!(Number.isInteger(rows) && Number.isInteger(columns) && rows * columns <= MOST_CELLS)) {
    const expected = `whole numbers of rows and columns, ${MOST_CELLS} cells at most`;
    fail('scene', expected, `${show(rows)} x ${show(columns)}`, 'Record the episode again.');
  }
  const cells: SceneItem[][] = Array.from({ length: rows * columns }, () => []);
  for (const item of items) cells[item.row * columns + item.column].push(item);
  return cells;
}

/** The index of an agent's colour, or undefined for anything else. Agents are numbered from 1. */
export function agentIndex({ kind, symbol }: SceneItem): number | undefined {
  const number = kind === 'agent' ? Number(symbol) : Number.NaN;
  return Number.isInteger(number) && number >= 1 ? number - 1 : undefined;
}
