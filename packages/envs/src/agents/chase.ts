import type { AgentInput, Game, Generator } from '@coplay/core';
import { OUTSIDE, STAY } from '../game';
import { planesOf } from './planes';

/** A chaser's next action. */
export const HERE = -1;
export const NOWHERE = -2;

/** Looks for the things on one plane. */
export interface Chaser {
  /**
   * The first move of a shortest path to a nearest thing: of all moves that begin one, a uniformly drawn one.
   * HERE if it stands on a thing; NOWHERE if there is none, or none that can be reached over the cells it sees.
   */
  next(input: AgentInput, row: number, generator: Generator): number;
  /** Whether another agent stands where this one does. */
  hasCompany(input: AgentInput, row: number): boolean;
}

/**
 * Breadth-first search over the cells that an agent sees, obstacles respected, from the agent outwards. Each cell
 * keeps the set of first moves (4 bits) with which some shortest path leads to it.
 *
 * @param target  the plane's name, such as `stags`
 */
export function chaser(where: string, game: Game, target: string): Chaser {
  const planes = planesOf(where, game);
  const { grid, channels, size, others } = planes;
  const [self, obstacle, thing] = [planes.channel('self'), planes.channel('obstacles'), planes.channel(target)];
  const distances = new Int32Array(grid.cells);
  const firstMoves = new Uint8Array(grid.cells);
  const queue = new Int32Array(grid.cells);

  function ownCell(data: Uint8Array, base: number): number {
    for (let cell = 0; cell < grid.cells; cell++) {
      if (data[base + cell * channels + self] !== 0) return cell;
    }
    return OUTSIDE;
  }

  /** The first moves to the nearest things, as 4 bits; 0 if none is reached. `start` isn't a thing itself. */
  function search(data: Uint8Array, base: number, start: number): number {
    distances.fill(-1);
    distances[start] = 0;
    firstMoves[start] = 0;
    queue[0] = start;
    let end = 1;
    let found = 0;
    let reach = grid.cells; // the distance of the nearest thing, once one is found
    for (let at = 0; at < end; at++) {
      const cell = queue[at];
      const distance = distances[cell];
      if (distance > reach) break;
      if (distance > 0 && data[base + cell * channels + thing] !== 0) {
        found |= firstMoves[cell];
        reach = distance;
      }
      for (let move = 0; move < 4; move++) {
        const next = grid.neighbours[cell * 4 + move];
        if (data[base + next * channels + obstacle] !== 0) continue;
        if (distances[next] === -1) {
          distances[next] = distance + 1;
          firstMoves[next] = 0;
          queue[end++] = next;
        }
        if (distances[next] === distance + 1) firstMoves[next] |= distance === 0 ? 1 << move : firstMoves[cell];
      }
    }
    return found;
  }

  return {
    next(input, row, generator) {
      const data = planes.data(input);
      const base = row * size;
      const start = ownCell(data, base);
      if (start === OUTSIDE) return NOWHERE;
      if (data[base + start * channels + thing] !== 0) return HERE;
      const moves = search(data, base, start);
      return moves === 0 ? NOWHERE : drawMove(moves, generator);
    },
    hasCompany(input, row) {
      const data = planes.data(input);
      const cell = ownCell(data, row * size);
      return cell !== OUTSIDE && others.some((channel) => data[row * size + cell * channels + channel] !== 0);
    },
  };
}

/** One of the moves whose bits are set, uniformly. */
function drawMove(moves: number, generator: Generator): number {
  let count = 0;
  for (let move = 0; move < 4; move++) count += (moves >>> move) & 1;
  let skip = count === 1 ? 0 : generator.integer(count);
  for (let move = 0; move < 4; move++) {
    if (((moves >>> move) & 1) === 1 && skip-- === 0) return move;
  }
  return STAY;
}
