import { type ArrayOf, checkGame, type DType, fail, type Game, type Scene, type SceneItem } from '@coplay/core';

/** The scene of a state. @throws CoplayError for a game that has none */
export function sceneOf<State extends DType>(
  where: string,
  game: Game<State>,
  state: ArrayOf<State>,
  offset: number,
): Scene {
  checkGame(where, game);
  if (!game.scene) fail(where, 'a game with a scene', `${game.name}, which has none`, 'Give the game a scene().');
  return game.scene(state, offset);
}

/** [rows * columns] what lies in each cell, in reading order. */
export function itemsByCell({ rows, columns, items }: Scene): readonly (readonly SceneItem[])[] {
  const cells: SceneItem[][] = Array.from({ length: rows * columns }, () => []);
  for (const item of items) cells[item.row * columns + item.column].push(item);
  return cells;
}

/** The index of an agent's colour, or undefined for anything else. Agents are numbered from 1. */
export function agentIndex({ kind, symbol }: SceneItem): number | undefined {
  const number = kind === 'agent' ? Number(symbol) : Number.NaN;
  return Number.isInteger(number) && number >= 1 ? number - 1 : undefined;
}
