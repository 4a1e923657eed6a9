import { type ActionSpaces, checkGame, type DType, fail, type Game, show } from '@coplay/core';
import { seenParts, wrap, wrapOptions } from './wrap';

/**
 * Ends episodes after fewer steps: agents that are still active then are truncated. A time fraction in the observation
 * goes on counting against the game's own limit.
 *
 * @param steps  1 to the game's `maxSteps`
 * @throws CoplayError for any other number
 */
export function timeLimit<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
  steps: number,
): Game<State, Spaces> {
  checkGame('timeLimit', game, 'any');
  if (!Number.isInteger(steps) || steps < 1 || steps > game.maxSteps) {
    const remedy = 'A longer episode is made by the option maxSteps of the game.';
    fail('timeLimit', `steps from 1 to ${game.maxSteps}, the limit of ${game.name}`, show(steps), remedy);
  }
  const agents = game.agents.length;
  return wrap(game, {
    maxSteps: steps,
    options: wrapOptions(game, 'timeLimit', steps),
    ...seenParts(game),
    step(state, offset, actions, actionsOffset, generator, result, row) {
      game.step(state, offset, actions, actionsOffset, generator, result, row);
      if (game.elapsed(state, offset) < steps) return;
      const { terminated, truncated } = result;
      for (let at = row * agents; at < (row + 1) * agents; at++) truncated[at] = terminated[at] === 1 ? 0 : 1;
    },
  });
}
