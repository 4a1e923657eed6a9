import { assertGame, createGenerator, parallelEnv } from '@coplay/core';
import { pendulum } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { expectSameEpisode, recordedCases } from './recorded';

describe('pendulum', () => {
  it('keeps the contract', () => {
    assertGame(pendulum({ maxSteps: 20 }));
  });

  it.each(recordedCases('pendulum'))('moves as Gymnasium does: %s', (name, recorded) => {
    expect(recorded.actions).toHaveLength(200);
    expectSameEpisode('pendulum', name, recorded);
  });

  it('starts with an angle anywhere and a velocity in [-1, 1)', () => {
    const game = pendulum();
    const generator = createGenerator(1);
    const state = new Float64Array(3);
    const starts = Array.from({ length: 2000 }, () => {
      game.reset(state, 0, generator);
      return [...state];
    });
    for (const [i, limit] of [Math.PI, 1].entries()) {
      const values = starts.map((start) => start[i]);
      expect(Math.min(...values)).toBeGreaterThanOrEqual(-limit);
      expect(Math.max(...values)).toBeLessThan(limit);
      expect(Math.max(...values) - Math.min(...values)).toBeGreaterThan(1.99 * limit);
      // The standard error of the mean of 2,000 values uniform in +-limit is limit / sqrt(3 * 2000) = 0.013 limit.
      expect(Math.abs(values.reduce((a, b) => a + b) / values.length)).toBeLessThan(0.05 * limit);
    }
  });

  it('refuses torques beyond its bounds, and options that it does not have', () => {
    expect(() => pendulum({ maxStep: 3 } as object)).toThrow('"maxStep"');
    const env = parallelEnv(pendulum());
    env.reset();
    expect(() => env.step({ agent_0: [2.5] })).toThrow(
      /a number from -2 to 2 as value 0 for agent_0, got 2\.5\. Clip actions to the bounds/,
    );
    expect(() => env.step({ agent_0: [1, 1] })).toThrow(/1 number for agent_0/);
    expect(env.step({ agent_0: 2 }).rewards['agent_0']).toBeLessThan(0);
  });
});
