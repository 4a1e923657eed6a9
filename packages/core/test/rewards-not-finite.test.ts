import { type Agent, createGenerator, type Game, imagine, parallelEnv, rulesSimulator, vectorEnv } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { countingGame } from './counting-game';

/** Pays agent 1 a reward that isn't finite in the second step. */
function sick(reward: number): Game {
  const plain = countingGame({ maxSteps: 4 }) as unknown as Game;
  return {
    ...plain,
    step(state, offset, actions, at, generator, result, row) {
      plain.step(state, offset, actions, at, generator, result, row);
      if (plain.elapsed(state, offset) === 2) result.rewards[row * 2 + 1] = reward;
    },
  };
}

const legal = (id: string): Agent => ({
  id,
  name: 'Legal',
  initialState: () => null,
  act: ({ rows, masks }) => ({
    actions: Int32Array.from({ length: rows }, (_, row) => masks.indexOf(1, row * 3) - row * 3),
    state: null,
  }),
});

describe.each([Number.NaN, Number.POSITIVE_INFINITY])('rewards of %d are refused', (reward) => {
  it('by imagine, by episode and step', async () => {
    const game = sick(reward);
    const { states, previousActions, isFirst } = vectorEnv(game, { envs: 2, seed: 1 });
    const starts = { states, previousActions, isFirst };
    const options = { horizon: 3, generator: createGenerator(1) };
    await expect(imagine(rulesSimulator(game), game.agents.map(legal), starts, options)).rejects.toThrow(
      `imagine: counting: expected finite rewards, got ${reward} for agent_1 in imagined episode 0, step 2`,
    );
  });

  it('by parallelEnv, by step', () => {
    const env = parallelEnv(sick(reward));
    env.reset({ seed: 1 });
    env.step({ agent_0: 1, agent_1: 1 });
    expect(() => env.step({ agent_0: 0, agent_1: 0 })).toThrow(
      `parallelEnv.step: counting: expected finite rewards, got ${reward} for agent_1 in step 2`,
    );
  });
});
