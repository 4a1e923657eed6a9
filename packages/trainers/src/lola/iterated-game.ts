import { checkGame, fail, type Game, show, vectorEnv } from '@coplay/core';
import { checkRewards } from '@coplay/core/checks';

/** A matrix game of two players with two actions each, played for ever: what {@link iteratedGradients} needs of it. */
export interface IteratedGame {
  /** [4] each player's payoffs, entry 2 a + b where player 0 plays a and player 1 plays b */
  readonly payoffs: readonly [Float64Array, Float64Array];
  /** Per round, in [0, 1). */
  readonly discount: number;
}

/** Rounds that players can tell apart: the last pair of actions, or none at the start. */
export const MEMORIES = 5;

/**
 * The payoffs of a game such as `matrixGame()`, found by playing each pair of actions once.
 *
 * @param discount  in [0, 1)
 * @throws CoplayError for a game of another form: two players, two actions, seen as `joint` [5]
 */
export function iteratedGame(game: Game, discount: number): IteratedGame {
  checkMatrixGame('iteratedGame', game);
  if (typeof discount !== 'number' || !(discount >= 0 && discount < 1)) {
    fail('iteratedGame: discount', 'a number in [0, 1)', show(discount), 'Without a discount values are infinite.');
  }
  const env = vectorEnv(game, { envs: 4, seed: 0 });
  env.step(Int32Array.of(0, 0, 0, 1, 1, 0, 1, 1));
  const { rewards } = env.result;
  const check = { rewards, rows: 4, source: 'step() of the game' };
  checkRewards('iteratedGame', game, check, (pair) => `the round of actions ${pair >> 1} and ${pair & 1}`);
  const payoffsOf = (player: number) => Float64Array.from({ length: 4 }, (_, pair) => rewards[pair * 2 + player]);
  return { payoffs: [payoffsOf(0), payoffsOf(1)], discount };
}

/** @throws CoplayError for a game that memory-one policies of two actions can't play */
export function checkMatrixGame(where: string, game: Game): void {
  checkGame(`${where}: option game`, game);
  const seen = game.observation['joint']?.shape;
  if (game.agents.length === 2 && game.actions === 2 && seen?.length === 1 && seen[0] === MEMORIES) return;
  const expected = 'a matrix game of two players and two actions, which see the last round as joint [5]';
  const got = `${game.name}: ${game.agents.length} agents, ${game.actions} actions`;
  fail(`${where}: option game`, expected, got, 'Give one such as matrixGame() (docs/lola.md).');
}
