import { createGenerator, type Game, rulesSimulator, vectorEnv } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { createSearch } from '@coplay/planning';
import { describe, expect, it } from 'vitest';
import { hashed } from './networks';

const plain = stagHunt({ size: 5, agents: 2, maxSteps: 6 }) as unknown as Game;

/** Pays agent 0 what isn't a number in the third step. */
function sick(reward: number): Game {
  return {
    ...plain,
    step(states, offset, actions, at, generator, result, row) {
      plain.step(states, offset, actions, at, generator, result, row);
      if (plain.elapsed(states, offset) === 3) result.rewards[row * 2] = reward;
    },
  };
}

describe('search', () => {
  const cases = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].flatMap((reward) =>
    [false, true].flatMap((simulated) =>
      (['perNode', 'perVisit'] as const).map((sampling) => ({ reward, simulated, sampling })),
    ),
  );
  it.each(cases)('refuses rewards of $reward (simulator $simulated, sampling $sampling)', async (given) => {
    const game = sick(given.reward);
    const simulator = given.simulated ? { simulator: rulesSimulator(game) } : {};
    const search = createSearch({ game, simulations: 200, trees: 1, coPlayerSampling: given.sampling, ...simulator });
    const states = vectorEnv(game, { envs: 1, seed: 3 }).states.slice();
    const roots = { rows: 1, states, seats: Int32Array.of(0), generator: createGenerator(1) };
    await expect(search.search(roots, hashed(game.actions, game.stateSize))).rejects.toThrow(
      new RegExp(`search: .*finite rewards, got ${given.reward} for agent_0 in a simulated state, step 3`),
    );
  });
});
