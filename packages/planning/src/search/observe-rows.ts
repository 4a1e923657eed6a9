import {
  type AgentInput,
  type ArrayOf,
  allocate,
  checkGame,
  type DType,
  fail,
  type Game,
  type ObservationArrays,
} from '@coplay/core';
import { allocateGrid, allocateObservations, sizeOf } from '@coplay/core/arrays';
import {
  checkArgument,
  checkCount,
  checkNumber,
  checkNumbers,
  checkRecord,
  checkTypedArray,
  typedArrays,
} from '@coplay/core/checks';
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
 * The states that a seat sees: roots for a search. They come from its observations where the game has grid parts, else
 * from `input.states`, which a game that declares `observesState` gives its agents.
 *
 * @param input  what the agent in seat `seat` was asked to act on, B games
 * @returns [B, S]
 * @throws CoplayError for a game whose agents don't see the whole state
 */
export function seenStates(
  game: Game,
  input: Pick<AgentInput, 'rows' | 'observations' | 'states'>,
  seat: number,
): ArrayOf<DType> {
  const where = 'seenStates';
  checkGame(where, game);
  const { grid, observesState } = game;
  if (!grid && !observesState) {
    const remedy =
      'Declare observesState where that is so, or give the game grid parts ("Optional parts" in docs/writing-an-environment.md).';
    fail(where, 'a game whose agents see the whole state', game.name, remedy);
  }
  checkRecord(where, 'input', input);
  const { rows, observations } = input;
  checkCount(where, 'input.rows', rows);
  checkNumber(where, 'seat', seat, { min: 0, max: game.agents.length - 1, whole: true });
  if (!grid) {
    const { states } = input;
    checkTypedArray(where, 'input.states', states, game.stateType, rows * game.stateSize);
    return states!.slice() as ArrayOf<DType>;
  }
  checkArgument(where, 'input.observations', z.record(z.string(), typedArrays()), observations);
  checkObservations(where, game, rows, observations);
  const parts = allocateGrid(grid, game.agents.length, 1);
  const states = allocate(game.stateType, rows * game.stateSize);
  for (let row = 0; row < rows; row++) {
    grid.see(observations, row, seat, parts, 0);
    grid.write(parts, 0, states, row * game.stateSize);
  }
  return states;
}
