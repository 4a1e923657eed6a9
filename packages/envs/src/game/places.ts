import type { Generator } from '@coplay/core';
import { hasCell } from './cell-set';
import type { Grid } from './grid';

/**
 * Draws `count` distinct free cells, all ordered tuples equally likely: the first `count` entries of the returned
 * array.
 */
export type DrawPlaces = (blocked: Int32Array, offset: number, count: number, generator: Generator) => Int32Array;

/**
 * Draws cells that aren't in a set of cells; there must be `count` of them. The result is overwritten by the next draw.
 */
export function placeDrawer(grid: Grid): DrawPlaces {
  const free = new Int32Array(grid.cells);
  return (blocked, offset, count, generator) => {
    let length = 0;
    for (let cell = 0; cell < grid.cells; cell++) {
      if (hasCell(blocked, offset, cell) === 0) free[length++] = cell;
    }
    // The first `count` steps of a Fisher-Yates shuffle.
    for (let i = 0; i < count; i++) {
      const j = i + generator.integer(length - i);
      const drawn = free[j];
      free[j] = free[i];
      free[i] = drawn;
    }
    return free;
  };
}
