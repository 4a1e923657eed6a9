/** The moves that every grid game shares; the other actions of a game come after them. */
export const UP = 0;
export const DOWN = 1;
export const LEFT = 2;
export const RIGHT = 3;
export const STAY = 4;

/** Names of actions 0 to 4. */
export const MOVE_NAMES: readonly string[] = ['up', 'down', 'left', 'right', 'stay'];

/** The cell of a thing that isn't on the grid. */
export const OUTSIDE = -1;

/** A rectangle of cells, numbered in reading order: cell = row * columns + column. Rows count from the top. */
export interface Grid {
  readonly rows: number;
  readonly columns: number;
  readonly cells: number;
  /** [cells, 4] the cell that UP, DOWN, LEFT or RIGHT leads to: at the border the cell itself */
  readonly neighbours: Int32Array;
  /** [cells, 4] 1 where that's another cell, 0 at the border */
  readonly isInside: Uint8Array;
}

/** The grid of a size, with its tables of neighbours. */
export function createGrid(rows: number, columns: number): Grid {
  const cells = rows * columns;
  const neighbours = Int32Array.from({ length: cells * 4 }, (_, exit) => {
    const [cell, move] = [exit >>> 2, exit & 3];
    const [row, column] = [Math.floor(cell / columns), cell % columns];
    if (move === UP) return row > 0 ? cell - columns : cell;
    if (move === DOWN) return row < rows - 1 ? cell + columns : cell;
    if (move === LEFT) return column > 0 ? cell - 1 : cell;
    return column < columns - 1 ? cell + 1 : cell;
  });
  const isInside = Uint8Array.from(neighbours, (next, exit) => (next === exit >>> 2 ? 0 : 1));
  return { rows, columns, cells, neighbours, isInside };
}
