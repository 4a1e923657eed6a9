import { fail, type NamedArrays, type TypedArray } from '@coplay/core';
import { checkArgument, checkNumbers, namedArrays, ndarrays } from '@coplay/core/checks';
import { z } from 'zod';

/** Mean squared error of numbers, such as rewards [B, A]. */
export function meanSquaredError(predicted: ArrayLike<number>, actual: ArrayLike<number>): number {
  checkNumbers('meanSquaredError', 'predicted', predicted);
  checkNumbers('meanSquaredError', 'actual', actual);
  if (predicted.length !== actual.length || predicted.length === 0) {
    const got = `${predicted.length} and ${actual.length}`;
    fail('meanSquaredError', 'as many predictions as values, at least one', got, 'Give both for the same steps.');
  }
  let sum = 0;
  for (let i = 0; i < predicted.length; i++) sum += (predicted[i] - actual[i]) ** 2;
  return sum / predicted.length;
}

/**
 * Which transitions were predicted exactly: in every field `next/NAME` that both records have.
 *
 * @param happened  [B, ...] for each field, as predicted
 * @param rows      [B, ...] as it came
 * @returns [B] 1 where all is as it came
 */
export function exactTransitions(happened: NamedArrays, rows: NamedArrays): Uint8Array {
  checkArgument('exactTransitions', 'happened', namedArrays, happened);
  checkArgument('exactTransitions', 'rows', namedArrays, rows);
  const names = Object.keys(happened).filter((name) => name.startsWith('next/') && name in rows);
  if (names.length === 0) {
    const got = Object.keys(happened).join(', ') || 'nothing';
    fail('exactTransitions', 'fields next/NAME in both', got, "Give a model's prediction and the transitions.");
  }
  const exact = new Uint8Array(happened[names[0]].shape[0]).fill(1);
  for (const name of names) compare(exact, name, happened[name].data, rows[name].data);
  return exact;
}

function compare(exact: Uint8Array, name: string, predicted: TypedArray, actual: TypedArray): void {
  if (predicted.length !== actual.length) {
    fail(
      'exactTransitions',
      `${actual.length} values of ${name}`,
      `${predicted.length}`,
      'Give both for the same rows.',
    );
  }
  const width = predicted.length / exact.length;
  for (let i = 0; i < predicted.length; i++) if (predicted[i] !== actual[i]) exact[Math.floor(i / width)] = 0;
}

const gridSchema = z.looseObject({ rows: z.int().min(1), columns: z.int().min(1) });
const movesSchema = z.looseObject({ cells: ndarrays, fixed: ndarrays }).refine(({ cells, fixed }) => {
  return cells.shape.length === 2 && fixed.shape.length === 3 && cells.shape[0] === fixed.shape[0];
}, 'cells [B, A] and fixed [B, F, HW]');

/** The grid that moves are judged on. */
export interface MoveRules {
  /** H */
  readonly rows: number;
  /** W */
  readonly columns: number;
}

/**
 * Which predicted moves can't be: farther than to one of the four neighbours, into what stays, or back from having
 * left.
 *
 * @param grid   H and W
 * @param rows   transitions with `cells` [B, A] and `fixed` [B, F, HW]
 * @param next   [B, A] cells after the step, as predicted; H*W for agents that left
 * @returns [B, A] 1 where the move can't be
 */
export function illegalMoves(grid: MoveRules, rows: NamedArrays, next: ArrayLike<number>): Uint8Array {
  checkArgument('illegalMoves', 'grid', gridSchema, grid);
  checkArgument('illegalMoves', 'rows', movesSchema, rows);
  const cells = grid.rows * grid.columns;
  checkNumbers('illegalMoves', 'next', next, { length: rows['cells'].data.length, min: 0, max: cells, whole: true });
  const before = rows['cells'];
  const agents = before.shape[1];
  const fixed = rows['fixed'];
  const kinds = fixed.shape[1];
  return Uint8Array.from(before.data, (from, i) => {
    const to = next[i];
    if (to === cells) return 0;
    if (from === cells) return 1;
    const base = Math.floor(i / agents) * kinds * cells;
    for (let kind = 0; kind < kinds; kind++) if (fixed.data[base + kind * cells + to] === 1) return 1;
    return distance(from, to, grid.columns) <= 1 ? 0 : 1;
  });
}

function distance(from: number, to: number, columns: number): number {
  const rows = Math.abs(Math.floor(from / columns) - Math.floor(to / columns));
  return rows + Math.abs((from % columns) - (to % columns));
}
