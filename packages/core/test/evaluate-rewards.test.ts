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
  it('ends between two steps where its signal is aborted, also from a timer, and puts memories back', async () => {
    const game = countingGame({ maxSteps: 4 }) as unknown as Game;
    const reason = new Error('no time left');
    const stop = new AbortController();
    let [steps, restored] = [0, 0];
    const slow = (id: string): Agent => ({
      ...first(id),
      act(...given) {
        steps++;
        for (const start = performance.now(); performance.now() - start < 2; );
        return first(id).act(...given);
      },
      save: () => ({}),
      restore: () => void restored++,
    });
    // Without turns of the event loop, 100,000 steps of 4 ms would end before the timer.
    setTimeout(() => stop.abort(reason), 20);
    const options = { episodes: 100_000, envs: 4, signal: stop.signal };
    await expect(evaluate(game, game.agents.map(slow), options)).rejects.toBe(reason);
    expect([steps > 0, steps < 1000, restored]).toEqual([true, true, 2]);
    steps = 0;
    await expect(evaluate(game, game.agents.map(slow), options)).rejects.toBe(reason);
    expect(steps).toBe(0);
  });

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
