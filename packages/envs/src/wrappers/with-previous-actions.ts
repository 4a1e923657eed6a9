import {
  type ActionArray,
  type ActionSpace,
  type ActionSpaces,
  allocate,
  checkGame,
  type DType,
  fail,
  type Game,
  type ObservationField,
} from '@coplay/core';
import { actionLayout, codeSizeOf, isBox, writeActionCode } from '@coplay/core/arrays';
import { actionMemory, wrap, wrapOptions } from './wrap';

/**
 * Adds the last actions of all agents to the observation: `previousActions` float32 [A * K], a one-hot for each agent,
 * the observer first, then the others in cyclic order of seats; zeros in the first step and for agents that had left.
 * Each of several choices has a one-hot, and the values of a box stand there as they are.
 *
 * @throws CoplayError for a game that has the field already, or whose states can't hold actions
 */
export function withPreviousActions<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
): Game<State, Spaces> {
  const where = 'withPreviousActions';
  checkGame(where, game, 'any');
  if ('previousActions' in game.observation) {
    fail(where, 'a game without the field previousActions', `${game.name}, which has it`, 'Use the game as it is.');
  }
  const { spaces, width, dtype } = actionLayout(game);
  const A = spaces.length;
  const memory = actionMemory(where, game);
  const sizes = spaces.map(codeSizeOf);
  const size = sizes.reduce((sum, codes) => sum + codes, 0);
  const action: ActionArray = allocate(dtype, width);

  const readLayout = game.readLayout?.bind(game);
  return wrap(game, {
    stateSize: game.stateSize + memory.size,
    observation: { ...game.observation, previousActions: fieldOf(spaces, size) },
    options: wrapOptions(game, where, true),
    // All agents see the actions that the state now holds.
    ...(game.observesState && { observesState: true }),
    reset(state, offset, generator) {
      game.reset(state, offset, generator);
      memory.forget(state, offset);
    },
    step(state, offset, actions, actionsOffset, generator, result, row) {
      for (let agent = 0; agent < A; agent++) {
        if (!game.isActive(state, offset, agent)) memory.release(state, offset, agent);
        else memory.hold(state, offset, agent, actions as ActionArray, actionsOffset + agent * width);
      }
      game.step(state, offset, actions, actionsOffset, generator, result, row);
    },
    observe(state, offset, agent, out, row) {
      game.observe(state, offset, agent, out, row);
      const field = out['previousActions'];
      let at = row * size;
      field.fill(0, at, at + size);
      for (let seat = 0; seat < A; seat++) {
        const other = (agent + seat) % A;
        memory.recall(state, offset, other, action, 0);
        writeActionCode(spaces[other], action, 0, field, at);
        at += sizes[other];
      }
    },
    ...(readLayout && {
      readLayout(layout, state, offset) {
        readLayout(layout, state, offset);
        memory.forget(state, offset);
      },
    }),
  });
}

function fieldOf(spaces: readonly ActionSpace[], size: number): ObservationField {
  const field = { shape: [size], dtype: 'float32' } as const;
  if (spaces.some(isBox)) return { ...field, kind: 'vector' };
  const [first] = spaces;
  const isDiscrete = spaces.every((space) => space === first);
  return typeof first === 'number' && isDiscrete
    ? { ...field, kind: 'one-hot', classes: first }
    : { ...field, kind: 'planes' };
}
