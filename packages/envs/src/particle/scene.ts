import type { Scene, SceneItem } from '@coplay/core';
import { POSITIONS, type World } from './world';

/** Kind and symbol of a thing in a picture. */
export type Cell = Pick<SceneItem, 'kind' | 'symbol'>;

/** The picture has LINES x LINES cells of width 0.1; its middle is the origin. Things further away are at its edge. */
const LINES = 25;
const WIDTH = 0.1;

/** The picture of a particle world: each entity in its cell, and obstacles in all cells that they cover. */
export function particleScene(
  world: World,
  state: Float64Array,
  offset: number,
  landmarkOf: (state: Float64Array, offset: number, landmark: number) => Cell,
): Scene {
  const lineOf = (value: number) => Math.min(LINES - 1, Math.max(0, Math.floor(value / WIDTH + LINES / 2)));
  const placeOf = (entity: number) => {
    const first = offset + POSITIONS + 2 * entity;
    return { row: LINES - 1 - lineOf(state[first + 1]), column: lineOf(state[first]) };
  };
  const landmarks = Array.from({ length: world.landmarks }, (_, landmark) => {
    const look = landmarkOf(state, offset, landmark);
    const { row, column } = placeOf(world.agents + landmark);
    if (look.kind !== 'obstacle') return [{ ...look, row, column }];
    return cellsAround(row, column, world.sizes[world.agents + landmark] / WIDTH).map((cell) => ({ ...look, ...cell }));
  });
  // Agents 10 and later are letters.
  const agents = Array.from({ length: world.agents }, (_, agent) => ({
    ...{ kind: 'agent', symbol: (agent + 1).toString(36) },
    ...placeOf(agent),
  }));
  return { rows: LINES, columns: LINES, items: [...landmarks.flat(), ...agents] };
}

/** The cells of the picture whose middle is less than `radius` cells from the middle of a cell. */
function cellsAround(row: number, column: number, radius: number): { readonly row: number; readonly column: number }[] {
  const lines = Array.from({ length: LINES }, (_, line) => line);
  return lines.flatMap((r) =>
    lines.filter((c) => Math.hypot(r - row, c - column) < radius).map((c) => ({ row: r, column: c })),
  );
}
