import { type Agent, evaluate, type Game } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { countingGame } from './counting-game';

const first = (id: string): Agent => ({
  id,
  name: 'First',
  initialState: () => null,
  act: ({ rows, masks }) => ({
    actions: Int32Array.from({ length: rows }, (_, row) => masks.indexOf(1, row * 3) - row * 3),
    state: null,
  }),
});

describe('evaluate', () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses a reward of %d by agent, environment and step',
    async (reward) => {
      const plain = countingGame({ maxSteps: 4 }) as unknown as Game;
      const sick: Game = {
        ...plain,
        step(state, offset, actions, at, generator, result, row) {
          plain.step(state, offset, actions, at, generator, result, row);
          if (plain.elapsed(state, offset) === 3) result.rewards[row * 2 + 1] = reward;
        },
      };
      await expect(evaluate(sick, sick.agents.map(first), { episodes: 2, envs: 1 })).rejects.toThrow(
        new RegExp(`evaluate: counting: expected finite rewards, got ${reward} for agent_1 in environment 0, step 3`),
      );
    },
  );
});
