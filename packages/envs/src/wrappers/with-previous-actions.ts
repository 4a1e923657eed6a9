import { checkGame, type DType, fail, type Game } from '@coplay/core';
import { checkFits, wrap, wrapOptions } from './wrap';

/**
 * Adds what everyone did in the step before to the observation: `previousActions` float32 [A * K], a one-hot for each
 * agent, the observer first, then the others in cyclic order of seats; zeros in the first step and for who had left.
 *
 * @throws CoplayError for a game that has the field already
 */
export function withPreviousActions<State extends DType>(game: Game<State>): Game<State> {
  const where = 'withPreviousActions';
  checkGame(where, game);
  if ('previousActions' in game.observation) {
    fail(where, 'a game without the field previousActions', `${game.name}, which has it`, 'Use the game as it is.');
  }
  const A = game.agents.length;
  const K = game.actions;
  checkFits(where, game, K);
  /** [A] 1 + the previous action of each agent, 0 for none; behind the game's own state */
  const previous = game.stateSize;

  function forget(state: { fill(value: number, start: number, end: number): unknown }, offset: number): void {
    state.fill(0, offset + previous, offset + previous + A);
  }

  const readLayout = game.readLayout?.bind(game);
  return wrap(game, {
    stateSize: game.stateSize + A,
    observation: {
      ...game.observation,
      previousActions: { shape: [A * K], dtype: 'float32', kind: 'one-hot', classes: K },
    },
    options: wrapOptions(game, 'withPreviousActions', true),
    // The actions that the state now holds are seen by all.
    ...(game.observesState && { observesState: true }),
    reset(state, offset, generator) {
      game.reset(state, offset, generator);
      forget(state, offset);
    },
    step(state, offset, actions, actionsOffset, generator, result, row) {
      for (let agent = 0; agent < A; agent++) {
        const plays = game.isActive(state, offset, agent);
        state[offset + previous + agent] = plays ? 1 + actions[actionsOffset + agent] : 0;
      }
      game.step(state, offset, actions, actionsOffset, generator, result, row);
    },
    observe(state, offset, agent, out, row) {
      game.observe(state, offset, agent, out, row);
      const field = out['previousActions'];
      const base = row * A * K;
      field.fill(0, base, base + A * K);
      for (let seat = 0; seat < A; seat++) {
        const action = state[offset + previous + ((agent + seat) % A)] - 1;
        if (action >= 0) field[base + seat * K + action] = 1;
      }
    },
    ...(readLayout && {
      readLayout(layout, state, offset) {
        readLayout(layout, state, offset);
        forget(state, offset);
      },
    }),
  });
}
