import {
  type ArrayOf,
  allocate,
  allocateGrid,
  type DType,
  type Experience,
  type Game,
  type Generator,
  type ImaginationStarts,
  type NDArray,
} from '@coplay/core';
import { nonZero, seatRows, takeRows } from '@coplay/core/rows';

/** Steps of real experience from which an agent imagines what else might have happened. */
export interface Starts extends ImaginationStarts {
  /** [B] rows e T + t of the experience */
  readonly rows: Int32Array;
}

/**
 * Draws steps in which the agent was playing, each with the same chance, with replacement; states are read from the
 * agent's own observations.
 *
 * @returns undefined where it never played
 */
export function drawStarts(
  game: Game,
  experience: Experience,
  seat: number,
  count: number,
  generator: Generator,
): Starts | undefined {
  const { active, agents } = experience;
  const played = nonZero(seatRows(active, seat, agents.length).data);
  if (played.length === 0) return undefined;
  const rows = Int32Array.from({ length: count }, () => played[generator.integer(played.length)]);
  return { rows, ...startsAt(game, experience, seat, rows) };
}

/** The information in steps of an experience, as starts. */
function startsAt(game: Game, experience: Experience, seat: number, rows: Int32Array): ImaginationStarts {
  const { observations, previousActions, isFirst } = experience;
  const agents = game.agents.length;
  const states = allocate(game.stateType, rows.length * game.stateSize) as ArrayOf<DType>;
  const grid = game.grid!; // refused without it when the options were checked
  const parts = allocateGrid(grid, agents, 1);
  rows.forEach((row, i) => {
    grid.see(observations, row * agents + seat, seat, parts, 0);
    grid.write(parts, 0, states, i * game.stateSize);
  });
  return {
    states,
    previousActions: takeRows(previousActions, rows, agents),
    isFirst: takeRows(isFirst, rows, 1),
  };
}

/** One seat's numbers [B, size] at rows e T + t of an extra [E, T, A, size]. */
export function extraAt({ data, shape }: NDArray, agents: number, seat: number, rows: ArrayLike<number>): Float32Array {
  const places = Int32Array.from(rows, (row) => row * agents + seat);
  return takeRows(data as Float32Array, places, shape[3]);
}
