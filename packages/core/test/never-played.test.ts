import { type Agent, evaluate, type Game } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { countingGame } from './counting-game';

/** Agent 2 never plays; agent 1 plays in the episodes whose first random number is even. */
function halfEmpty(): Game {
  const plain = countingGame({ agents: 3, maxSteps: 2 });
  return {
    ...plain,
    reset(state: Int32Array, offset: number, generator) {
      plain.reset(state, offset, generator);
      state[offset + 3] = state[offset + 1] % 2;
      state[offset + 4] = 1;
    },
    step(state: Int32Array, offset: number, actions, at, generator, result, row) {
      plain.step(state, offset, actions, at, generator, result, row);
      for (let i = 0; i < 3; i++) result.rewards[row * 3 + i] = state[offset + 2 + i] === 1 ? 0 : 5;
    },
  } as Game;
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

describe('evaluate', () => {
  it('has no return, error or info of an agent that never played, and none of episodes without it', async () => {
    const game = halfEmpty();
    const result = await evaluate(game, game.agents.map(legal), { episodes: 20, envs: 4 });
    const { returns, returnMean, returnStandardError, infos, byAgent, mean } = result;
    // Two steps of 5 each wherever it plays.
    expect(returnMean).toEqual({ agent_0: 10, agent_1: 10 });
    expect(returnStandardError).toEqual({ agent_0: 0, agent_1: 0 });
    expect([mean, Object.keys(byAgent), Object.keys(infos['illegal'])]).toEqual([
      10,
      ['agent_0', 'agent_1'],
      ['agent_0', 'agent_1'],
    ]);
    const of = (seat: number) => [...returns].filter((_, i) => i % 3 === seat);
    expect(of(0)).toEqual(new Array(20).fill(10));
    expect(new Set(of(1))).toEqual(new Set([10, Number.NaN]));
    expect(of(2)).toEqual(new Array(20).fill(Number.NaN));
  });
});
