import {
  type ArrayOf,
  checkArgument,
  checkGame,
  checkNumber,
  type DType,
  fail,
  type Game,
  type Scene,
  type SceneItem,
  show,
  typedArrays,
} from '@coplay/core';
import { z } from 'zod';

/** The scene of a state. @throws CoplayError for a game that has none */
export function sceneOf<State extends DType>(
  where: string,
  game: Game<State>,
  state: ArrayOf<State>,
  offset: number,
): Scene {
  checkGame(where, game);
  checkArgument(where, 'state', typedArrays(game.stateType), state);
  checkNumber(where, 'offset', offset, { min: 0, max: state.length - game.stateSize, whole: true });
  if (!game.scene) fail(where, 'a game with a scene', `${game.name}, which has none`, 'Give the game a scene().');
  return game.scene(state, offset);
}

const sceneSchema = z.looseObject({
  rows: z.int().min(1).max(10_000),
  columns: z.int().min(1).max(10_000),
  items: z.array(z.looseObject({ kind: z.string(), symbol: z.string(), row: z.int().min(0), column: z.int().min(0) })),
});

/** Refuses what is no scene, and things outside its grid. */
export function checkScene(where: string, scene: Scene): void {
  checkArgument(where, 'scene', sceneSchema, scene);
  const { rows, columns, items } = scene;
  const stray = items.findIndex(({ row, column }) => row >= rows || column >= columns);
  if (stray < 0) return;
  const got = `row ${items[stray].row}, column ${items[stray].column}`;
  fail(`${where}: scene.items.${stray}`, `a place in ${rows} rows and ${columns} columns`, got, 'Mend its place.');
}

/** Cells that a picture may have. */
const MOST_CELLS = 1_000_000;

/** [rows * columns] what lies in each cell, in reading order. @throws CoplayError for a scene that isn't a board of cells */
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
