import { assertGame, createGenerator, parallelEnv } from '@coplay/core';
import { allocateStepArrays } from '@coplay/core/arrays';
import { cartPole } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { expectSameEpisode, recordedCases } from './recorded';

describe('cartPole', () => {
  it('keeps the contract', () => {
    assertGame(cartPole());
    assertGame(cartPole({ maxSteps: 5 }));
  });

  it.each(recordedCases('cartpole'))('moves as Gymnasium does: %s', (name, recorded) => {
    expectSameEpisode('cartpole', name, recorded);
  });

  // 12 degrees are 0.20943951 rad; at rest neither position nor angle change in the first step.
  it.each([
    ['angle', 2, 0.2094395, 0.2094396],
    ['position', 0, 2.4, 2.4000001],
  ])('falls just beyond the limit of the %s, on both sides', (_, index, inside, outside) => {
    const game = cartPole();
    const result = allocateStepArrays(game, 1);
    for (const sign of [-1, 1]) {
      for (const value of [inside, outside]) {
        const state = new Float64Array(game.stateSize);
        state[index] = sign * value;
        game.step(state, 0, Int32Array.of(0), 0, createGenerator(0), result, 0);
        expect(result.terminated[0]).toBe(value === outside ? 1 : 0);
        expect(game.isActive(state, 0, 0)).toBe(value === inside);
        expect(result.rewards[0]).toBe(1);
      }
    }
  });

  it('starts with four values in [-0.05, 0.05)', () => {
    const game = cartPole();
    const generator = createGenerator(1);
    const state = new Float64Array(6);
    const values: number[] = [];
    for (let episode = 0; episode < 2000; episode++) {
      game.reset(state, 0, generator);
      values.push(...state.subarray(0, 4));
    }
    expect(Math.min(...values)).toBeGreaterThanOrEqual(-0.05);
    expect(Math.max(...values)).toBeLessThan(0.05);
    // The standard error of the mean of 8,000 values uniform in +-0.05 is 0.05 / sqrt(3 * 8000) = 0.00032.
    expect(Math.abs(values.reduce((a, b) => a + b) / values.length)).toBeLessThan(0.0015);
    expect(Math.min(...values)).toBeLessThan(-0.049);
  });

  it('says what it is told to refuse', () => {
    expect(() => cartPole({ maxStep: 3 } as object)).toThrow('"maxStep"');
    const env = parallelEnv(cartPole());
    env.reset();
    expect(() => env.step({ agent_0: 2 })).toThrow(/from 0 to 1 for agent_0, got 2\. The actions are: 0 left, 1 right/);
  });
});
