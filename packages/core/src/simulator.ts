import { z } from 'zod';
import { checkGame } from './check-game';
import { checkNumbers } from './check-values';
import { checkArgument, typedArrays } from './checks';
import { fail, show } from './errors';
import type { Experience } from './experience';
import type { Game, StepArrays } from './game';
import type { Generator } from './generator';
import { checkGenerator } from './generator';
import type { ArrayOf, DType } from './typed-arrays';

const resultSchema = z.looseObject({
  rewards: typedArrays('float32'),
  terminated: typedArrays('uint8'),
  truncated: typedArrays('uint8'),
  infos: z.record(z.string(), typedArrays()),
});

/**
 * Something that plays steps in the place of a game's rules: a learned model of the world, or the rules themselves. It
 * works on the game's own states, so that the game says what agents see and may do in them.
 */
export interface Simulator {
  readonly game: Game;
  /**
   * Plays one step in B games.
   *
   * @param states     B states of the game, one after the other; replaced by the next ones
   * @param actions    [B, A] in 0..K-1; actions of agents that have left are ignored
   * @param generator  for random draws
   * @param result     [B, A] rewards, terminated and truncated are written (infos are left alone)
   */
  step(states: ArrayOf<DType>, actions: Int32Array, generator: Generator, result: StepArrays): Promise<void> | void;
  /**
   * The states of `game` at steps of real experience. Only for a simulator whose states aren't those of the game that
   * was played, such as a model of observations.
   *
   * @param steps  [B] steps e T + t of the experience
   * @param seat   whose view the states are, of a model of own views
   * @returns [B, S]
   */
  statesAt?(experience: Experience, steps: Int32Array, seat: number): ArrayOf<DType>;
}

/**
 * Refuses a value that isn't a simulator, and a simulator whose states differ from those of `game`.
 *
 * @param where  the function that was given the simulator, for the message
 * @param game   whose states it must play. Default: its own game's
 */
export function checkSimulator(where: string, simulator: Simulator, game?: Game): void {
  if (typeof simulator?.step !== 'function') {
    fail(
      where,
      'a simulator',
      show(simulator),
      'Give rulesSimulator(game), or the simulator() of a model of the world.',
    );
  }
  const simulated = simulator.game;
  checkGame(`${where}: game`, simulated);
  if (game !== undefined) checkGame(where, game);
  if (!game || (simulated.stateSize === game.stateSize && simulated.stateType === game.stateType)) return;
  const got = `one of ${simulated.name} with ${simulated.stateSize} ${simulated.stateType}`;
  const expected = `a simulator of states of ${game.stateSize} ${game.stateType} (${game.name})`;
  fail(where, expected, got, 'Make it with the same game; states of observations belong to simulator.game.');
}

/** The rules of a game as a simulator, like a perfect world model. */
export function rulesSimulator(game: Game): Simulator {
  checkGame('rulesSimulator', game);
  return {
    game,
    step(states, actions, generator, result) {
      const rows = checkStep(game, states, actions, generator, result);
      for (let row = 0; row < rows; row++) {
        game.step(states, row * game.stateSize, actions, row * game.agents.length, generator, result, row);
      }
    },
  };
}

/** @returns how many games are stepped */
function checkStep(
  game: Game,
  states: ArrayOf<DType>,
  actions: Int32Array,
  generator: Generator,
  result: StepArrays,
): number {
  const where = 'simulator.step';
  checkArgument(where, 'states', typedArrays(game.stateType), states);
  const rows = states.length / game.stateSize;
  if (!Number.isInteger(rows)) {
    fail(where, `states of ${game.stateSize} values each`, `${states.length} values`, 'Give whole states.');
  }
  const length = rows * game.agents.length;
  checkNumbers(where, 'actions', actions, { length, whole: true });
  checkGenerator(where, generator);
  checkArgument(where, 'result', resultSchema, result);
  for (const name of ['rewards', 'terminated', 'truncated'] as const) {
    checkNumbers(where, `result.${name}`, result[name], { atLeast: length, nan: true });
  }
  for (const name of game.infos)
    checkNumbers(where, `result.infos.${name}`, result.infos[name], { atLeast: length, nan: true });
  return rows;
}
