import type { Game } from '@coplay/core';
import { tinyGame } from './games';

/** Steps of an episode of {@link countGame}. */
export const COUNT_STEPS = 3;

/**
 * DreamerV3's alignment test (embodied/tests/test_train.py) with more to align: an episode's observation is a count
 * that goes up by 1, and the action that led there, -1 in the beginning; the reward of a step is 10 times the action
 * and the count that it led to.
 */
export function countGame(terminates = true): Game<'uint8'> {
  return {
    ...tinyGame({ agents: 1, actions: 3, maxSteps: COUNT_STEPS, reward: () => 0 }),
    name: 'count',
    observation: { count: { shape: [2], dtype: 'float32' } },
    reset: (state, offset) => void state.fill(0, offset, offset + 2),
    step: (state, offset, chosen, at, _generator, result, row) => {
      state[offset]++;
      state[offset + 1] = chosen[at] + 1;
      const isLast = state[offset] === COUNT_STEPS ? 1 : 0;
      result.rewards[row] = 10 * chosen[at] + state[offset];
      result.terminated[row] = terminates ? isLast : 0;
      result.truncated[row] = terminates ? 0 : isLast;
    },
    observe: (state, offset, _agent, out, row) => {
      out['count'][2 * row] = state[offset];
      out['count'][2 * row + 1] = state[offset + 1] - 1;
    },
  };
}
