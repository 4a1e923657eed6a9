import { type ArrayOf, type DType, fail, type Game, type Generator, show, type TypedArray } from '@coplay/core';
import { dtypeOf } from '@coplay/core/arrays';
import { checkArgument, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';

/** Where R searches begin: any states of the game, of one environment or of many, each with the agent that searches. */
export interface SearchRoots {
  /** R */
  readonly rows: number;
  /** [R, S] states of the game, one after the other; they aren't changed */
  readonly states: ArrayOf<DType>;
  /** [R] the seat of the agent that searches; it must still be playing */
  readonly seats: Int32Array;
  /** [R] whose networks are asked, a number of your choice that tells sets of weights apart. Default: the seats */
  readonly players?: Int32Array;
  /**
   * [R, A, G] the beliefs about each co-player's goal; the own seat's are ignored. Default: nothing is known (goal -1)
   */
  readonly beliefs?: Float64Array | Float32Array;
  /** [R, A] what everyone did before, -1 for nothing; for networks that read it. Default: -1 */
  readonly previousActions?: Int32Array;
  /**
   * One for all roots, or one for each: then a root's result doesn't depend on its place among the others. Each is
   * advanced by one draw, so that the next search draws other numbers.
   */
  readonly generator: Generator | readonly Generator[];
}

const isGenerator = (value: unknown) => typeof (value as Generator | undefined)?.uniform === 'function';
const generators = z.custom<Generator>(isGenerator, 'a generator');
const rootsSchema = z.looseObject({
  rows: z.number(),
  states: typedArrays(),
  seats: typedArrays('int32'),
  players: typedArrays('int32').optional(),
  beliefs: typedArrays('float64', 'float32').optional(),
  previousActions: typedArrays('int32').optional(),
  generator: z.union([generators, z.array(generators)]),
});

/** Refuses roots that don't fit the game. @returns G, 0 without beliefs */
export function checkRoots(game: Game, roots: SearchRoots): number {
  checkArgument('search', 'roots', rootsSchema, roots);
  const { rows, states, seats, players, beliefs, previousActions, generator } = roots;
  const A = game.agents.length;
  const check = (name: string, array: TypedArray | undefined, length: number) => {
    if (array === undefined || array.length === length) return;
    fail(
      `search: ${name}`,
      `${length} numbers for ${rows} roots of ${game.name}`,
      String(array.length),
      'Give them all.',
    );
  };
  if (!Number.isInteger(rows) || rows < 1)
    fail('search: rows', 'a whole number, at least 1', show(rows), 'Give a root.');
  if (dtypeOf(states) !== game.stateType) {
    fail('search: states', `${game.stateType} of ${game.name}`, dtypeOf(states), 'Give states of the game.');
  }
  check('states', states, rows * game.stateSize);
  check('seats', seats, rows);
  check('players', players, rows);
  check('previousActions', previousActions, rows * A);
  if (Array.isArray(generator) && generator.length !== rows) {
    fail('search: generator', `one generator, or ${rows}`, String(generator.length), 'Give one for each root.');
  }
  for (let row = 0; row < rows; row++) checkSeat(game, roots, row);
  const goals = (beliefs?.length ?? 0) / (rows * A);
  if (!Number.isInteger(goals)) {
    const got = `${beliefs?.length} numbers`;
    fail('search: beliefs', `[${rows}, ${A}, G] numbers`, got, 'Give G for every seat of every root, the own one too.');
  }
  const wrong = beliefs?.findIndex((belief) => !(belief >= 0 && belief < Number.POSITIVE_INFINITY)) ?? -1;
  if (wrong >= 0) {
    const got = `${beliefs![wrong]} at ${wrong}`;
    fail('search: beliefs', 'finite numbers, at least 0', got, 'Look at what made the beliefs.');
  }
  return goals;
}

function checkSeat(game: Game, { states, seats }: SearchRoots, row: number): void {
  const seat = seats[row];
  if (!(seat >= 0 && seat < game.agents.length)) {
    fail('search: seats', `seats in 0..${game.agents.length - 1}`, String(seat), 'Name the agent that searches.');
  }
  if (game.isActive(states, row * game.stateSize, seat)) return;
  const remedy = 'Search only where the agent still plays.';
  fail('search: seats', `an agent that plays, at root ${row}`, `${game.agents[seat]}, which has left`, remedy);
}
