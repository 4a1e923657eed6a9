import {
  type ActionArray,
  type ActionSpaces,
  type ActionsOf,
  allocate,
  checkGame,
  type DType,
  type Game,
} from '@coplay/core';
import { actionLayout, choicesOf } from '@coplay/core/arrays';
import { checkNumber } from '@coplay/core/checks';
import { actionMemory, wrap, wrapOptions } from './wrap';

/**
 * Repeats an agent's last action with a probability, instead of the one that it chose (Machado et al. 2018, section 5):
 * policies can't rely on an exact timing. Each agent has a draw of its own in each step. The last action is the one
 * that was played; if it has become illegal, the agent's choice is played.
 *
 * The last action is part of the state, and agents don't see it; `withPreviousActions` inside shows it.
 *
 * @param probability  0 to 1; 0.25 in the Arcade Learning Environment
 * @throws CoplayError for another number, or a game whose states can't hold actions
 */
export function stickyActions<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
  probability: number,
): Game<State, Spaces> {
  const where = 'stickyActions';
  checkGame(where, game, 'any');
  checkNumber(where, 'probability', probability, { min: 0, max: 1 });
  const { spaces, width, maskSize, dtype } = actionLayout(game);
  const A = spaces.length;
  const choices = spaces.map(choicesOf);
  const memory = actionMemory(where, game);
  const played: ActionArray = allocate(dtype, A * width);
  const last: ActionArray = allocate(dtype, width);
  const mask = new Uint8Array(maskSize);

  /** Whether an agent may play the action in `last`. */
  const isLegal = (agent: number): boolean => {
    const counts = choices[agent]; // none in a box
    let start = 0;
    for (let i = 0; i < counts.length; i++) {
      if (last[i] < 0 || mask[start + last[i]] !== 1) return false;
      start += counts[i];
    }
    return true;
  };

  const readLayout = game.readLayout?.bind(game);
  return wrap(game, {
    stateSize: game.stateSize + memory.size,
    options: wrapOptions(game, where, probability),
    reset(state, offset, generator) {
      game.reset(state, offset, generator);
      memory.forget(state, offset);
    },
    step(state, offset, actions, actionsOffset, generator, result, row) {
      const given = actions as ActionArray;
      const isStart = game.elapsed(state, offset) === 0;
      for (let agent = 0; agent < A; agent++) {
        const at = agent * width;
        for (let i = 0; i < width; i++) played[at + i] = given[actionsOffset + at + i];
        if (!game.isActive(state, offset, agent)) continue;
        if (!isStart && generator.uniform() < probability) {
          memory.recall(state, offset, agent, last, 0);
          game.legal(state, offset, agent, mask, 0);
          if (isLegal(agent)) for (let i = 0; i < width; i++) played[at + i] = last[i];
        }
        memory.hold(state, offset, agent, played, at);
      }
      game.step(state, offset, played as ActionsOf<Spaces>, 0, generator, result, row);
    },
    ...(readLayout && {
      readLayout(layout, state, offset) {
        readLayout(layout, state, offset);
        memory.forget(state, offset);
      },
    }),
  });
}
