import { type ActionSpaces, checkGame, type DType, type Game } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { wrap, wrapOptions } from './wrap';

/**
 * Keeps agents that ended in the game until the episode ends for all (`black_death` of SuperSuit): they see zeros, earn
 * 0, and their actions change nothing; one legal action is left to them, in a box any. So all agents have as many
 * steps, for algorithms of other libraries. Those of this one need no such wrapper: they skip agents that left.
 *
 * At the end, `terminated` is 1 for agents that the rules ended at some time. The game has no goals, since these read
 * when an agent leaves.
 */
export function noOpAfterEnd<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
): Game<State, Spaces> {
  checkGame('noOpAfterEnd', game, 'any');
  const A = game.agents.length;
  const fields = Object.entries(game.observation).map(([name, { shape }]) => ({ name, size: sizeOf(shape) }));
  const { goals: _, ...wrapped } = wrap(game, {
    options: wrapOptions(game, 'noOpAfterEnd', true),
    step(state, offset, actions, actionsOffset, generator, result, row) {
      game.step(state, offset, actions, actionsOffset, generator, result, row);
      const { terminated, truncated } = result;
      let isOver = true;
      for (let at = row * A; at < (row + 1) * A; at++) isOver &&= terminated[at] === 1 || truncated[at] === 1;
      if (!isOver) terminated.fill(0, row * A, (row + 1) * A);
    },
    observe(state, offset, agent, out, row) {
      if (game.isActive(state, offset, agent)) {
        game.observe(state, offset, agent, out, row);
        return;
      }
      for (let f = 0; f < fields.length; f++) {
        const { name, size } = fields[f];
        out[name].fill(0, row * size, (row + 1) * size);
      }
    },
    isActive(state, offset, agent) {
      // After a time limit the others may still be active.
      if (game.elapsed(state, offset) >= game.maxSteps) return game.isActive(state, offset, agent);
      for (let other = 0; other < A; other++) if (game.isActive(state, offset, other)) return true;
      return false;
    },
  });
  return wrapped;
}
