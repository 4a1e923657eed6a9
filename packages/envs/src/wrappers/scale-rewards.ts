import { type ActionSpaces, checkGame, type DType, type Game } from '@coplay/core';
import { checkNumber } from '@coplay/core/checks';
import { wrap, wrapOptions } from './wrap';

/**
 * Multiplies all rewards by a number, for algorithms whose step sizes depend on the size of rewards. Returns of
 * evaluations are multiplied, too. PPO's option `normaliseRewards` finds a factor by itself, and changes no returns.
 *
 * The game has no grid parts, since their payments are those of the rules.
 *
 * @param factor  any finite number
 */
export function scaleRewards<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
  factor: number,
): Game<State, Spaces> {
  checkGame('scaleRewards', game, 'any');
  checkNumber('scaleRewards', 'factor', factor);
  const A = game.agents.length;
  return wrap(game, {
    options: wrapOptions(game, 'scaleRewards', factor),
    ...(game.observesState && { observesState: true }),
    step(state, offset, actions, actionsOffset, generator, result, row) {
      game.step(state, offset, actions, actionsOffset, generator, result, row);
      for (let at = row * A; at < (row + 1) * A; at++) result.rewards[at] *= factor;
    },
  });
}
