import type { Generator, ObservationArrays } from '@coplay/core';
import { createGrid, DOWN, type Grid, LEFT, OUTSIDE, RIGHT, UP } from '../../game';

/** Names of the four actions, in the order of the public environments. */
export const ACTION_NAMES: readonly string[] = ['left', 'down', 'right', 'up'];
const MOVES = [LEFT, DOWN, RIGHT, UP];

/** Layout of a state: the index of each field (int32 values), relative to its offset. */
export const STEPS = 0;
export const STREAK = 1;
/** 1 when the game has ended by its rules. */
export const OVER = 2;
/** [2] the agents' cells */
export const AGENTS = 3;
/** [things, 2] cell and kind of each thing */
const THINGS = 5;

/** A kind of thing on the board. */
export interface Kind {
  /** For scenes and layouts: `stag` */
  readonly name: string;
  /** One character for text. */
  readonly symbol: string;
  /** How many there always are; undefined where things change their kind. */
  readonly count?: number;
}

/** A board of two agents and a fixed number of things, and the operations on it. */
export interface Board {
  readonly grid: Grid;
  readonly kinds: readonly Kind[];
  /** Number of things. */
  readonly things: number;
  readonly stateSize: number;
}

export function createBoard(rows: number, columns: number, kinds: readonly Kind[], things: number): Board {
  return { grid: createGrid(rows, columns), kinds, things, stateSize: THINGS + 2 * things };
}

/** Clears the counters, puts the agents into the two top corners and all things nowhere. */
export function clear({ grid, things }: Board, state: Int32Array, offset: number): void {
  state[offset + STEPS] = 0;
  state[offset + STREAK] = 0;
  state[offset + OVER] = 0;
  state[offset + AGENTS] = 0;
  state[offset + AGENTS + 1] = grid.columns - 1;
  for (let thing = 0; thing < things; thing++) put(state, offset, thing, OUTSIDE, 0);
}

export function put(state: Int32Array, offset: number, thing: number, cell: number, kind: number): void {
  state[offset + THINGS + 2 * thing] = cell;
  state[offset + THINGS + 2 * thing + 1] = kind;
}

export function cellOfThing(state: Int32Array, offset: number, thing: number): number {
  return state[offset + THINGS + 2 * thing];
}

export function kindOfThing(state: Int32Array, offset: number, thing: number): number {
  return state[offset + THINGS + 2 * thing + 1];
}

/** The cell that a move leads to; into the border it leads nowhere. */
export function moved({ grid }: Board, cell: number, action: number): number {
  return grid.neighbours[cell * 4 + MOVES[action]];
}

/** Moves both agents. */
export function moveAgents(board: Board, state: Int32Array, offset: number, actions: Int32Array, at: number): void {
  for (let agent = 0; agent < 2; agent++) {
    const place = offset + AGENTS + agent;
    state[place] = moved(board, state[place], actions[at + agent]);
  }
}

/** A neighbour of a cell inside the grid, uniformly at random. */
export function randomNeighbour({ grid }: Board, cell: number, generator: Generator): number {
  let count = 0;
  let chosen = cell;
  for (let move = 0; move < 4; move++) {
    const next = grid.neighbours[cell * 4 + move];
    // Reservoir sampling: the n-th candidate replaces the choice with probability 1 / n.
    if (next !== cell && generator.integer(++count) === 0) chosen = next;
  }
  return chosen;
}

/** A cell that holds neither agents nor things, uniformly at random. There must be one. */
export function randomFreeCell(board: Board, state: Int32Array, offset: number, generator: Generator): number {
  const { cells } = board.grid;
  let free = 0;
  for (let cell = 0; cell < cells; cell++) if (isFree(board, state, offset, cell)) free++;
  let skip = generator.integer(free);
  for (let cell = 0; cell < cells; cell++) {
    if (isFree(board, state, offset, cell) && skip-- === 0) return cell;
  }
  return OUTSIDE;
}

function isFree({ things }: Board, state: Int32Array, offset: number, cell: number): boolean {
  if (state[offset + AGENTS] === cell || state[offset + AGENTS + 1] === cell) return false;
  for (let thing = 0; thing < things; thing++) if (cellOfThing(state, offset, thing) === cell) return false;
  return true;
}

/** Writes the planes [rows, columns, 2 + kinds] that an agent sees: itself, the other, then each kind of thing. */
export function writePlanes(
  { grid, kinds, things }: Board,
  state: Int32Array,
  offset: number,
  agent: number,
  out: ObservationArrays,
  row: number,
): void {
  const planes = out['planes'];
  const C = 2 + kinds.length;
  const base = row * grid.cells * C;
  planes.fill(0, base, base + grid.cells * C);
  planes[base + state[offset + AGENTS + agent] * C] = 1;
  planes[base + state[offset + AGENTS + 1 - agent] * C + 1] = 1;
  for (let thing = 0; thing < things; thing++) {
    planes[base + cellOfThing(state, offset, thing) * C + 2 + kindOfThing(state, offset, thing)] = 1;
  }
}
