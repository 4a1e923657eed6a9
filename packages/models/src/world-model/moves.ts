import type { GridParts } from '@coplay/core';
import { tf } from '@coplay/tensor';

/** The changes of an agent's place in a step: stay, go up, down, left, right, or leave the game. */
export const MOVES = 6;
/** The last of them. */
export const LEAVE = 5;

/** The cell that each move but leaving leads to, [HW, 5]; -1 outside of the grid. */
export function neighbourTable({ rows, columns }: Pick<GridParts, 'rows' | 'columns'>): Int32Array {
  const table = new Int32Array(rows * columns * LEAVE);
  const steps = [
    [0, 0],
    [-1, 0],
    [1, 0],
    [0, -1],
    [0, 1],
  ] as const;
  for (let cell = 0; cell < rows * columns; cell++) {
    steps.forEach(([down, right], move) => {
      const row = Math.floor(cell / columns) + down;
      const column = (cell % columns) + right;
      const isInside = row >= 0 && column >= 0 && row < rows && column < columns;
      table[cell * LEAVE + move] = isInside ? row * columns + column : -1;
    });
  }
  return table;
}

/**
 * [HW + 1, 5 * HW] one-hots of the cells that the moves lead to: zeros outside of the grid, and for one that has left.
 */
export function targetTable(neighbours: Int32Array, cells: number): Float32Array {
  const table = new Float32Array((cells + 1) * LEAVE * cells);
  neighbours.forEach((target, i) => {
    if (target >= 0) table[i * cells + target] = 1;
  });
  return table;
}

/** One-hots of cells [B, A, HW]: zeros for agents that have left. */
export function cellOneHots(cells: tf.Tensor, count: number): tf.Tensor3D {
  return tf.cast(tf.equal(tf.expandDims(cells, -1), tf.range(0, count, 1, 'int32')), 'float32') as tf.Tensor3D;
}
