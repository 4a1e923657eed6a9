import { fail, type Generator } from '@coplay/core';
import { addCell, clearSet, hasCell, setWords } from './cell-set';
import type { Grid } from './grid';

/** Draws obstacles into a set of cells (see cell-set.ts) of a state. */
export type DrawObstacles = (state: Int32Array, offset: number, generator: Generator) => void;

/** A piece turned some way: its extent, and its cells relative to the cell of its top left corner. */
interface Piece {
  readonly rows: number;
  readonly columns: number;
  readonly cells: readonly number[];
}

type Point = readonly [row: number, column: number];

/** Straight 3, L 3, straight 4, L 4: rows from the top, divided by a slash. */
const KINDS = ['xxx', 'x./xx', 'xxxx', 'x./x./xx'].map(pointsOf);

const DRAWS = 1000;
const TRIES = 100;

/**
 * Obstacles of random pieces. The number of pieces is uniform in 0..pieces; each is a straight 3, an L 3, a straight 4
 * or an L 4, turned and mirrored, all uniformly; they're placed one by one where they fit without overlap. The whole
 * draw is repeated until the free cells are 4-connected and at least `needed`.
 *
 * @param where   the function whose option `obstaclePieces` this is, for the error when 1,000 draws fail
 * @param pieces  the most pieces, at least 0
 * @param needed  cells that must stay free
 */
export function obstacleDrawer(where: string, grid: Grid, pieces: number, needed: number): DrawObstacles {
  const words = setWords(grid.cells);
  const kinds = KINDS.map((kind) => orientations(kind, grid.columns));
  const isConnected = connectivity(grid);

  /** Places one piece; returns how many cells it took, 0 if it found no room. */
  function place(state: Int32Array, offset: number, generator: Generator): number {
    const turned = kinds[generator.integer(kinds.length)];
    const piece = turned[generator.integer(turned.length)];
    const rows = grid.rows - piece.rows + 1;
    const columns = grid.columns - piece.columns + 1;
    if (rows < 1 || columns < 1) return 0;
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const corner = generator.integer(rows) * grid.columns + generator.integer(columns);
      if (!fits(state, offset, piece, corner)) continue;
      for (const cell of piece.cells) addCell(state, offset, corner + cell);
      return piece.cells.length;
    }
    return 0;
  }

  /** One whole draw; false if it has to be repeated. */
  function draw(state: Int32Array, offset: number, generator: Generator): boolean {
    clearSet(state, offset, words);
    let free = grid.cells;
    for (let left = generator.integer(pieces + 1); left > 0; left--) {
      const taken = place(state, offset, generator);
      if (taken === 0) return false;
      free -= taken;
    }
    return free >= needed && (free === grid.cells || isConnected(state, offset, free));
  }

  return (state, offset, generator) => {
    if (pieces === 0) return clearSet(state, offset, words);
    for (let attempt = 0; attempt < DRAWS; attempt++) {
      if (draw(state, offset, generator)) return;
    }
    const got = `obstaclePieces ${pieces} on ${grid.rows}x${grid.columns}`;
    fail(where, `obstacles that leave ${needed} connected cells free`, got, 'Give fewer obstaclePieces.');
  };
}

function fits(state: Int32Array, offset: number, piece: Piece, corner: number): boolean {
  for (const cell of piece.cells) {
    if (hasCell(state, offset, corner + cell) === 1) return false;
  }
  return true;
}

function pointsOf(picture: string): Point[] {
  return picture
    .split('/')
    .flatMap((line, row) => [...line].flatMap((mark, column): Point[] => (mark === 'x' ? [[row, column]] : [])));
}

/** The different ways to turn and mirror a piece. */
function orientations(points: readonly Point[], columns: number): Piece[] {
  const pieces = new Map<string, Piece>();
  for (let turn = 0; turn < 8; turn++) {
    const piece = pieceOf(
      points.map((point) => turned(point, turn)),
      columns,
    );
    pieces.set(`${piece.rows}x${piece.columns}: ${piece.cells}`, piece);
  }
  return [...pieces.values()];
}

/** One of the 8 symmetries of the square: bit 0 mirrors columns, bit 1 rows, bit 2 swaps the two. */
function turned([row, column]: Point, turn: number): Point {
  const r = turn & 2 ? -row : row;
  const c = turn & 1 ? -column : column;
  return turn & 4 ? [c, r] : [r, c];
}

function pieceOf(points: readonly Point[], columns: number): Piece {
  const top = Math.min(...points.map(([row]) => row));
  const left = Math.min(...points.map(([, column]) => column));
  return {
    rows: Math.max(...points.map(([row]) => row)) - top + 1,
    columns: Math.max(...points.map(([, column]) => column)) - left + 1,
    cells: points.map(([row, column]) => (row - top) * columns + (column - left)).sort((a, b) => a - b),
  };
}

/** A test whether the `free` cells that aren't in a set are 4-connected: can one of them reach all? */
function connectivity(grid: Grid): (blocked: Int32Array, offset: number, free: number) => boolean {
  const { neighbours } = grid;
  const isClosed = new Uint8Array(grid.cells);
  const queue = new Int32Array(grid.cells);

  return (blocked, offset, free) => {
    for (let cell = 0; cell < grid.cells; cell++) isClosed[cell] = hasCell(blocked, offset, cell);
    const first = isClosed.indexOf(0);
    isClosed[first] = 1;
    queue[0] = first;
    let end = 1;
    for (let at = 0; at < end; at++) {
      const exits = queue[at] * 4;
      for (let exit = exits; exit < exits + 4; exit++) {
        const next = neighbours[exit];
        if (isClosed[next] === 1) continue;
        isClosed[next] = 1;
        queue[end++] = next;
      }
    }
    return end === free;
  };
}
