import { type ArrayOf, allocate, checkGame, type DType, fail, type Game, type ObservationArrays } from '@coplay/core';
import { allocateGrid, allocateObservations, sizeOf } from '@coplay/core/arrays';
import { checkArgument, checkCount, checkNumber, checkNumbers, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import type { LeafRows } from './networks';

/** The observations of n states, for a network. */
export interface RowObservations {
  /** [n, ...shape] for each field of the game's observation */
  readonly observations: ObservationArrays;
  /** [n, K] 1 where legal */
  readonly masks: Uint8Array;
}

/** Arrays for the observations of `rows` states; every action is legal until masks are written. */
export function allocateRows(game: Game, rows: number): RowObservations {
  checkGame('allocateRows', game);
  checkCount('allocateRows', 'rows', rows);
  return {
    observations: allocateObservations(game.observation, rows),
    masks: new Uint8Array(rows * game.actions).fill(1),
  };
}

const leavesSchema = z.looseObject({ rows: z.int().min(0), seats: typedArrays('int32'), states: typedArrays() });
const roomSchema = z.looseObject({ observations: z.record(z.string(), typedArrays()), masks: typedArrays('uint8') });

function checkLeaves(game: Game, leaves: Pick<LeafRows, 'rows' | 'seats' | 'states'>): void {
  checkGame('observeRows', game);
  checkArgument('observeRows', 'leaves', leavesSchema, leaves);
  const { rows, seats, states } = leaves;
  if (seats.length >= rows && states.length >= rows * game.stateSize) return;
  const expected = `${rows} seats and ${rows} states of ${game.stateSize} values`;
  fail('observeRows: leaves', expected, `${seats.length} and ${states.length}`, 'Give both for every row.');
}

function checkRoom(game: Game, rows: number, { observations, masks }: RowObservations): void {
  checkNumbers('observeRows', 'room.masks', masks, { atLeast: rows * game.actions });
  checkObservations('observeRows', game, rows, observations);
}

function checkObservations(where: string, game: Game, rows: number, observations: ObservationArrays): void {
  for (const [name, { shape }] of Object.entries(game.observation)) {
    checkNumbers(where, `observations.${name}`, observations[name], { atLeast: rows * sizeOf(shape), nan: true });
  }
}

/**
 * Observations and masks of legal actions in states of a game.
 *
 * @param leaves  n states, and for each the seat that observes it
 * @param room  for n rows or more; those behind stay as they are. Give the same ones again to allocate nothing, of a
 *              few sizes only: a compiled function has a graph for each number of rows. Default: new ones of n rows
 */
export function observeRows(
  game: Game,
  leaves: Pick<LeafRows, 'rows' | 'seats' | 'states'>,
  room?: RowObservations,
): RowObservations {
  checkLeaves(game, leaves);
  const { rows, seats, states } = leaves;
  const into = room === undefined ? allocateRows(game, rows) : room;
  checkArgument('observeRows', 'room', roomSchema, into);
  checkRoom(game, rows, into);
  const { observations, masks } = into;
  for (let row = 0; row < rows; row++) {
    game.observe(states, row * game.stateSize, seats[row], observations, row);
    game.legal(states, row * game.stateSize, seats[row], masks, row * game.actions);
  }
  return into;
}

/**
 * The states that a seat saw, read from its observations: roots for a search.
 *
 * @param observations  [B, ...] for each field, as seat `seat` saw them
 * @param rows          B
 * @returns [B, S]
 * @throws CoplayError for a game whose observations don't show the whole state
 */
export function seenStates(game: Game, observations: ObservationArrays, rows: number, seat: number): ArrayOf<DType> {
  checkGame('seenStates', game);
  const { grid } = game;
  if (!grid) {
    const remedy = 'Use a game in which everyone sees everything, or give the states themselves.';
    fail('seenStates', 'a game with grid parts', game.name, remedy);
  }
  checkArgument('seenStates', 'observations', z.record(z.string(), typedArrays()), observations);
  checkCount('seenStates', 'rows', rows);
  checkObservations('seenStates', game, rows, observations);
  checkNumber('seenStates', 'seat', seat, { min: 0, max: game.agents.length - 1, whole: true });
  const parts = allocateGrid(grid, game.agents.length, 1);
  const states = allocate(game.stateType, rows * game.stateSize);
  for (let row = 0; row < rows; row++) {
    grid.see(observations, row, seat, parts, 0);
    grid.write(parts, 0, states, row * game.stateSize);
  }
  return states;
}
