import { fail } from '@coplay/core';
import { stepLimit, whole } from '../../game';

/** Options that the games of Gym-Stag-Hunt share. */
export interface GymBoardOptions {
  /** Rows of the board, 1 to 64 (grid_size). Default 5 */
  readonly rows?: number | undefined;
  /** Columns of the board, 2 to 64 (grid_size). Default 5 */
  readonly columns?: number | undefined;
  /** Steps after which an episode is truncated, 1 to 1,000,000 (episodes_per_game). Default 1000 */
  readonly maxSteps?: number | undefined;
}

/** Their part of a schema. */
export const boardOptions = {
  rows: whole(1, 64).default(5),
  columns: whole(2, 64).default(5),
  maxSteps: stepLimit.default(1000),
};

/** Refuses a board without a free cell to put things on. */
export function checkBoard(where: string, rows: number, columns: number): void {
  if (rows * columns >= 3) return;
  fail(`${where}: options rows and columns`, 'a board of at least 3 cells', `${rows} x ${columns}`, 'Make it larger.');
}

/** Refuses more plants than leave a cell free to grow on, wherever agents and a stag stand. */
export function checkPlants(where: string, plants: number, rows: number, columns: number): void {
  const most = rows * columns - 3;
  if (plants <= most) return;
  fail(`${where}: option plants`, `at most ${most} on this board`, String(plants), 'Give fewer plants.');
}
