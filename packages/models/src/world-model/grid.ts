import {
  type ArrayOf,
  checkGame,
  type DType,
  fail,
  type Game,
  type GridParts,
  type NamedArrays,
  ndarray,
} from '@coplay/core';
import { allocateGrid, type GridArrays } from '@coplay/core/arrays';

/** The sizes of a grid game that models are built with. */
export interface GridShape {
  readonly game: Game;
  readonly parts: GridParts;
  /** A */
  readonly agents: number;
  /** K */
  readonly actions: number;
  /** H * W */
  readonly cells: number;
  /** M, the kinds of things that come and go */
  readonly things: number;
  /** F, the kinds that stay */
  readonly fixed: number;
}

/** Sizes of a game on a grid. @throws CoplayError for a game without grid parts */
export function gridShape(where: string, game: Game): GridShape {
  checkGame(where, game);
  const parts = game.grid;
  if (!parts) {
    const remedy =
      'Use observationsWorldModel(), which needs none, or give the game grid parts ("Optional parts" in docs/writing-an-environment.md).';
    fail(where, 'a game with grid parts, all of which everyone sees', game.name, remedy);
  }
  return {
    game,
    parts: parts as GridParts,
    agents: game.agents.length,
    actions: game.actions,
    cells: parts.rows * parts.columns,
    things: parts.things.length,
    fixed: parts.fixed.length,
  };
}

/** States of the game as rows for `imagine`; an agent that has left gets the action -1. */
export function encodeGrid(shape: GridShape, states: ArrayOf<DType>, actions: Int32Array): NamedArrays {
  const { game, parts, agents, cells, things, fixed } = shape;
  const rows = states.length / game.stateSize;
  const grid = allocateGrid(parts, agents, rows);
  for (let row = 0; row < rows; row++) parts.read(states, row * game.stateSize, grid, row);
  return {
    cells: ndarray(grid.cells, [rows, agents]),
    things: ndarray(grid.things, [rows, things, cells]),
    fixed: ndarray(grid.fixed, [rows, fixed, cells]),
    elapsed: ndarray(grid.elapsed),
    actions: ndarray(
      actions.map((action, i) => (grid.cells[i] === cells ? -1 : action)),
      [rows, agents],
    ),
  };
}

/** Rows as the arrays that a game's parts are written from. */
export function gridOf(rows: NamedArrays): GridArrays {
  return {
    cells: rows['cells'].data as Int32Array,
    things: rows['things'].data as Uint8Array,
    fixed: rows['fixed'].data as Uint8Array,
    elapsed: rows['elapsed'].data as Int32Array,
  };
}

/** Writes what happened over the state that it happened in. */
export function writeGrid(
  { parts, agents, cells, things }: GridShape,
  happened: NamedArrays,
  row: number,
  states: ArrayOf<DType>,
  offset: number,
): void {
  const grid = allocateGrid(parts, agents, 1);
  parts.read(states, offset, grid, 0); // what stays, and the steps done
  const nextCells = happened['next/cells'].data;
  const nextThings = happened['next/things'].data;
  for (let i = 0; i < agents; i++) grid.cells[i] = nextCells[row * agents + i];
  for (let i = 0; i < things * cells; i++) grid.things[i] = nextThings[row * things * cells + i];
  grid.elapsed[0]++;
  parts.write(grid, 0, states, offset);
}

/**
 * Rows as they are after a step.
 *
 * @param cells   [B, A]
 * @param things  [B, M, HW]
 */
export function gridAfter(rows: NamedArrays, cells: Int32Array, things: Uint8Array): GridArrays {
  const { fixed, elapsed } = gridOf(rows);
  return { cells, things, fixed, elapsed: elapsed.map((steps) => steps + 1) };
}

/**
 * What everyone is paid for a step that leads to `after`: events follow from actions and from who left, and rewards
 * from the events, by the game's own rule.
 */
export function payByEvents({ parts, agents, cells }: GridShape, rows: NamedArrays, after: GridArrays): Float32Array {
  const before = gridOf(rows);
  const actions = rows['actions'].data;
  const count = actions.length / agents;
  const events = new Int32Array(actions.length);
  const rewards = new Float32Array(actions.length);
  for (let i = 0; i < actions.length; i++) {
    const left = before.cells[i] !== cells && after.cells[i] === cells;
    events[i] = before.cells[i] === cells ? -1 : parts.eventOf(actions[i], left);
  }
  for (let row = 0; row < count; row++) parts.pay(before, events, rewards, row, after);
  return rewards;
}

/** [B, A] 1 for agents that are off the map, and for all agents where the episode is over. */
export function hasEnded({ parts, agents, cells }: GridShape, after: GridArrays): Uint8Array {
  const ended = Uint8Array.from(after.cells, (cell) => (cell === cells ? 1 : 0));
  for (let row = 0; parts.isOver && row * agents < ended.length; row++) {
    if (parts.isOver(after, row)) ended.fill(1, row * agents, (row + 1) * agents);
  }
  return ended;
}
