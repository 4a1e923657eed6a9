import { type ActionSpaces, checkGame, type DType, fail, type Game } from '@coplay/core';
import { seenParts, wrap, wrapOptions } from './wrap';

/**
 * Adds who is looking to the observation: `agentId` float32 [A], a one-hot of the observer among `game.agents` (the
 * agent indicator of parameter sharing; Gupta et al. 2017). A network that serves all agents, and a model of others
 * that serves all co-players, can then tell them apart and learn that each has a part of its own. Around `permuteSeats`
 * it is the agent's, inside it the seat's.
 *
 * @throws CoplayError for a game that has the field already
 */
export function withAgentId<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
): Game<State, Spaces> {
  checkGame('withAgentId', game, 'any');
  if ('agentId' in game.observation) {
    fail('withAgentId', 'a game without the field agentId', `${game.name}, which has it`, 'Use the game as it is.');
  }
  const A = game.agents.length;
  return wrap(game, {
    observation: {
      ...game.observation,
      agentId: { shape: [A], dtype: 'float32', kind: 'one-hot', channels: game.agents },
    },
    options: wrapOptions(game, 'withAgentId', true),
    observe(state, offset, agent, out, row) {
      game.observe(state, offset, agent, out, row);
      const field = out['agentId'];
      field.fill(0, row * A, (row + 1) * A);
      field[row * A + agent] = 1;
    },
    // The state is the same, and is seen in the same fields.
    ...seenParts(game),
  });
}
