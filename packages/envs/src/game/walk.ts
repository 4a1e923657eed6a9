import { hasCell } from './cell-set';
import { type Grid, OUTSIDE } from './grid';

/**
 * Writes the bytes of an action mask that are moves, 4 of them: 1 where the way out of a cell is free of walls and
 * obstacles.
 *
 * @param obstacles  where the set of obstacles begins in the state
 */
export function legalMoves(
  grid: Grid,
  state: Int32Array,
  obstacles: number,
  cell: number,
  mask: Uint8Array,
  maskOffset: number,
): void {
  for (let move = 0; move < 4; move++) mask[maskOffset + move] = isWayOpen(grid, state, obstacles, cell * 4 + move);
}

/** The cell that a move leads to; OUTSIDE where a wall or an obstacle is in the way. */
export function destination(grid: Grid, state: Int32Array, obstacles: number, cell: number, move: number): number {
  const exit = cell * 4 + move;
  return isWayOpen(grid, state, obstacles, exit) === 0 ? OUTSIDE : grid.neighbours[exit];
}

/**
 * 1 where the way out of a cell is free of walls and obstacles, else 0.
 *
 * @param obstacles  where the set of obstacles begins in the state
 * @param exit       cell * 4 + move
 */
function isWayOpen(grid: Grid, state: Int32Array, obstacles: number, exit: number): number {
  // Without branches: which way is blocked can't be foretold, and this is asked most often of all.
  return grid.isInside[exit] & ~hasCell(state, obstacles, grid.neighbours[exit]);
}

/**
 * Marks on planes where agents stand: the observer on channel 0, the others after it in cyclic order.
 *
 * @param cells   where the agents' cells begin in the state; OUTSIDE for agents that aren't on the map
 * @param planes  from `base` on C values for each cell, zeroed
 */
export function markAgents(
  state: Int32Array,
  cells: number,
  agents: number,
  observer: number,
  planes: Uint8Array,
  base: number,
  C: number,
): void {
  let agent = observer;
  for (let channel = 0; channel < agents; channel++) {
    const cell = state[cells + agent];
    if (cell !== OUTSIDE) planes[base + cell * C + channel] = 1;
    agent = agent + 1 === agents ? 0 : agent + 1;
  }
}
