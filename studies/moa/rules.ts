import type { Game, GridParts } from '@coplay/core';

/** Types of a Mixed player. */
export const STAG_HUNTER = 0;
export const HARE_HUNTER = 1;

/** Actions of the stag hunt, by number. */
export const [UP, DOWN, LEFT, RIGHT, STAY, HUNT_STAG, HUNT_HARE] = [0, 1, 2, 3, 4, 5, 6];
export const ACTIONS = 7;

/** How a NearestStag waits for company. */
export type Waits = 'hunt' | 'stay';

/** What lies where on the board, [H*W] each. */
export interface Board {
  readonly stags: Uint8Array;
  readonly hares: Uint8Array;
  readonly obstacles: Uint8Array;
}

/** The rules of rule-based players as distributions, from their description alone: shortest paths, ties uniform. */
export interface PlayerRules {
  readonly cells: number;
  /** The cell that a move leads to; the same cell where it leads off the board. */
  target(cell: number, action: number): number;
  /** [K] the policy of a player of a type on a cell. */
  distribution(type: number, board: Board, cell: number, hasCompany: boolean): Float64Array;
}

/** The rules of Mixed players on a game's grid. */
export function playerRules(game: Game, waits: Waits): PlayerRules {
  const { rows, columns } = game.grid as GridParts;
  const cells = rows * columns;
  const known = new Map<string, Int32Array>();

  function target(cell: number, action: number): number {
    const row = Math.floor(cell / columns) + (action === DOWN ? 1 : action === UP ? -1 : 0);
    const column = (cell % columns) + (action === RIGHT ? 1 : action === LEFT ? -1 : 0);
    return row < 0 || row >= rows || column < 0 || column >= columns ? cell : row * columns + column;
  }

  /**
   * Steps from each cell to the nearest prey, by breadth-first search from all prey at once; -1 where none is reached.
   */
  function distancesTo(prey: Uint8Array, obstacles: Uint8Array): Int32Array {
    const key = `${prey.join('')}/${obstacles.join('')}`;
    const before = known.get(key);
    if (before) return before;
    const distances = new Int32Array(cells).fill(-1);
    const queue = Array.from(prey, (_, cell) => cell).filter((cell) => prey[cell] === 1);
    for (const cell of queue) distances[cell] = 0;
    for (const cell of queue) {
      for (const move of [UP, DOWN, LEFT, RIGHT]) {
        const next = target(cell, move);
        if (obstacles[next] === 1 || distances[next] !== -1) continue;
        distances[next] = distances[cell] + 1;
        queue.push(next);
      }
    }
    known.set(key, distances);
    return distances;
  }

  /**
   * Uniform over the moves that bring the prey one step nearer: the first moves of all shortest paths to all nearest
   * ones.
   */
  function approach(distances: Int32Array, cell: number): Float64Array {
    const moves = [UP, DOWN, LEFT, RIGHT].filter((move) => distances[target(cell, move)] === distances[cell] - 1);
    const probabilities = new Float64Array(ACTIONS);
    for (const move of moves) probabilities[move] = 1 / moves.length;
    return probabilities;
  }

  function distribution(type: number, board: Board, cell: number, hasCompany: boolean): Float64Array {
    const isAfterStags = type === STAG_HUNTER && board.stags.includes(1);
    const prey = isAfterStags ? board.stags : board.hares; // without a stag a stag hunter takes hares
    const distances = distancesTo(prey, board.obstacles);
    if (distances[cell] > 0) return approach(distances, cell);
    const probabilities = new Float64Array(ACTIONS);
    if (distances[cell] === -1) probabilities[STAY] = 1;
    else if (!isAfterStags) probabilities[HUNT_HARE] = 1;
    else probabilities[waits === 'hunt' || hasCompany ? HUNT_STAG : STAY] = 1;
    return probabilities;
  }

  return { cells, target, distribution };
}
