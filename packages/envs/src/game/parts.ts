import type { GridParts } from '@coplay/core';
import type { GridArrays } from '@coplay/core/arrays';
import { addCell, clearSet, hasCell } from './cell-set';
import { type Grid, OUTSIDE } from './grid';

/** Where the parts of a grid game's state are: offsets in it. */
interface PartsMap {
  readonly steps: number;
  /** [A] */
  readonly cells: number;
  /** M sets of cells (see cell-set.ts), one for each kind of thing that comes and goes */
  readonly things: readonly number[];
  /** The set of obstacles */
  readonly obstacles: number;
  /** Values of a set */
  readonly words: number;
}

/** What of a grid game's rules its parts are made from. */
interface PartsRules<Name extends string> {
  readonly grid: Grid;
  /** A */
  readonly agents: number;
  /** Offsets in the state; the sets of things have the names of their kinds */
  readonly at: Omit<PartsMap, 'things'> & Readonly<Record<Name, number>>;
  readonly settings: { readonly maxSteps: number };
}

type CommonParts = Pick<GridParts<'int32'>, 'rows' | 'columns' | 'things' | 'fixed' | 'read' | 'write' | 'see'>;

/**
 * The common part of all grid games: agents, obstacles, and M kinds of things that come and go, seen as `planes` (see
 * {@link seeParts}) and `time`.
 *
 * @param things  names of the M kinds
 */
export function gridParts<Name extends string>(rules: PartsRules<Name>, things: readonly Name[]): CommonParts {
  const { grid, agents, settings } = rules;
  const at: PartsMap = { ...rules.at, things: things.map((name) => rules.at[name]) };
  return {
    rows: grid.rows,
    columns: grid.columns,
    things,
    fixed: ['obstacles'],
    read: (state, offset, out, row) => readParts(grid, at, agents, state, offset, out, row),
    write: (parts, row, state, offset) => writeParts(grid, at, agents, parts, row, state, offset),
    see({ planes, time }, from, seat, out, row) {
      seeParts(grid.cells, agents, things.length, planes as Uint8Array, from, seat, out, row);
      out.elapsed[row] = Math.round(time[from] * settings.maxSteps);
    },
  };
}

/** Reads a state into row `row` of the arrays. */
function readParts(
  grid: Grid,
  at: PartsMap,
  agents: number,
  state: Int32Array,
  offset: number,
  out: GridArrays,
  row: number,
): void {
  const size = grid.cells;
  const kinds = at.things.length;
  for (let agent = 0; agent < agents; agent++) {
    const cell = state[offset + at.cells + agent];
    out.cells[row * agents + agent] = cell === OUTSIDE ? size : cell;
  }
  for (let kind = 0; kind < kinds; kind++) {
    const set = offset + at.things[kind];
    for (let cell = 0; cell < size; cell++) out.things[(kinds * row + kind) * size + cell] = hasCell(state, set, cell);
  }
  for (let cell = 0; cell < size; cell++) out.fixed[row * size + cell] = hasCell(state, offset + at.obstacles, cell);
  out.elapsed[row] = state[offset + at.steps];
}

/**
 * Writes row `row` of the arrays over a state. A cell holds at most one of obstacle and things, the first kind there.
 */
function writeParts(
  grid: Grid,
  at: PartsMap,
  agents: number,
  parts: GridArrays,
  row: number,
  state: Int32Array,
  offset: number,
): void {
  const size = grid.cells;
  const kinds = at.things.length;
  for (let agent = 0; agent < agents; agent++) {
    const cell = parts.cells[row * agents + agent];
    state[offset + at.cells + agent] = cell === size ? OUTSIDE : cell;
  }
  clearSet(state, offset + at.obstacles, at.words);
  for (let kind = 0; kind < kinds; kind++) clearSet(state, offset + at.things[kind], at.words);
  for (let cell = 0; cell < size; cell++) {
    if (parts.fixed[row * size + cell] === 1) {
      addCell(state, offset + at.obstacles, cell);
      continue;
    }
    let kind = 0;
    while (kind < kinds && parts.things[(kinds * row + kind) * size + cell] !== 1) kind++;
    if (kind < kinds) addCell(state, offset + at.things[kind], cell);
  }
  state[offset + at.steps] = parts.elapsed[row];
}

/**
 * Reads planes of one observation, [H, W, C] of A agents (the observer first, the others in cyclic order), obstacles
 * and M kinds of things, into row `row` of the arrays.
 *
 * @param from  the observation's row
 * @param seat  who saw it
 */
function seeParts(
  size: number,
  agents: number,
  kinds: number,
  planes: Uint8Array,
  from: number,
  seat: number,
  out: GridArrays,
  row: number,
): void {
  const C = agents + 1 + kinds;
  out.cells.fill(size, row * agents, (row + 1) * agents);
  for (let cell = 0; cell < size; cell++) {
    const pixel = (from * size + cell) * C;
    for (let channel = 0; channel < agents; channel++) {
      if (planes[pixel + channel] === 1) out.cells[row * agents + ((seat + channel) % agents)] = cell;
    }
    out.fixed[row * size + cell] = planes[pixel + agents];
    for (let kind = 0; kind < kinds; kind++) {
      out.things[(kinds * row + kind) * size + cell] = planes[pixel + agents + 1 + kind];
    }
  }
}
