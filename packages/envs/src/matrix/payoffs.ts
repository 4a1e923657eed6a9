import { fail, show } from '@coplay/core';

/** [K, K] payoffs: one line for each action of the first player, one entry for each of the second. */
export type PayoffTable = readonly (readonly number[])[];

/** The games that come with payoffs. */
export type MatrixGameKind = 'stag-hunt' | 'prisoners-dilemma' | 'chicken' | 'coordination';

/** A symmetric game: names of the K actions and the first player's payoffs; the second player's are the transpose. */
interface SymmetricGame {
  readonly actionNames: readonly string[];
  readonly payoffs: PayoffTable;
}

/**
 * With R = both take the first action, S = alone with the first, T = alone with the second, P = both the second:
 * stag hunt R > T >= P > S; prisoner's dilemma T > R > P > S and 2R > T + S (Axelrod 1984); chicken T > R > S > P.
 */
export const KINDS: Readonly<Record<MatrixGameKind, SymmetricGame>> = {
  'stag-hunt': { actionNames: ['stag', 'hare'], payoffs: twoByTwo(4, 0, 2, 2) },
  'prisoners-dilemma': { actionNames: ['cooperate', 'defect'], payoffs: twoByTwo(3, 0, 5, 1) },
  chicken: { actionNames: ['swerve', 'straight'], payoffs: twoByTwo(3, 2, 5, 0) },
  coordination: { actionNames: ['left', 'right'], payoffs: twoByTwo(1, 0, 0, 1) },
};

function twoByTwo(R: number, S: number, T: number, P: number): PayoffTable {
  return [
    [R, S],
    [T, P],
  ];
}

/**
 * Each player's payoffs as it sees them itself.
 *
 * @param payoffs  the first player's table, for a symmetric game; or both players' tables, in the same orientation
 * @returns [K * K] for each player: entry own action * K + the other's action
 * @throws CoplayError unless the tables are square and of one size
 */
export function ownTables(payoffs: PayoffTable | readonly [PayoffTable, PayoffTable]): [Float64Array, Float64Array] {
  if (!isPair(payoffs)) return [flat(payoffs), flat(payoffs)];
  const [first, second] = payoffs;
  const transposed = second.map((_, column) => second.map((line) => line[column]));
  const tables: [Float64Array, Float64Array] = [flat(first), flat(transposed)];
  if (first.length !== second.length) {
    const got = `${first.length} and ${second.length} lines`;
    fail('matrixGame: option payoffs', 'two tables of one size', got, 'Give both players the same number of actions.');
  }
  return tables;
}

function isPair(
  payoffs: PayoffTable | readonly [PayoffTable, PayoffTable],
): payoffs is readonly [PayoffTable, PayoffTable] {
  return Array.isArray(payoffs[0][0]);
}

function flat(table: PayoffTable): Float64Array {
  if (table.some((line) => line.length !== table.length)) {
    const got = `${table.length} lines of ${show(table.map((line) => line.length))}`;
    fail('matrixGame: option payoffs', 'square tables', got, 'Give one line and one entry for each action.');
  }
  return Float64Array.from(table.flat());
}
