import { readFileSync } from 'node:fs';
import { assertGame, createGenerator, parallelEnv } from '@coplay/core';
import { allocateObservations, allocateStepArrays } from '@coplay/core/arrays';
import { pendulum } from '@coplay/envs';
import { describe, expect, it } from 'vitest';

/** See data/make_pendulum_golden.py. */
interface Golden {
  readonly start: readonly number[];
  readonly actions: readonly number[];
  /** After some of the steps. */
  readonly states: Readonly<Record<string, readonly number[]>>;
  readonly rewards: Readonly<Record<string, number>>;
  /** The last one. */
  readonly observation: readonly number[];
  readonly return: number;
  readonly steps: number;
  readonly terminated: boolean;
  readonly truncated: boolean;
}

const golden = JSON.parse(readFileSync(new URL('./data/pendulum-golden.json', import.meta.url), 'utf8'));
const cases = Object.entries(golden.cases as Record<string, Golden>);

describe('pendulum', () => {
  it('keeps the contract', () => {
    assertGame(pendulum({ maxSteps: 20 }));
  });

  it.each(cases)('moves as Gymnasium does: %s', (_, { start, actions, states, rewards, observation, ...ends }) => {
    const game = pendulum();
    const generator = createGenerator(0);
    const state = new Float64Array(game.stateSize);
    const result = allocateStepArrays(game, 1);
    game.reset(state, 0, generator);
    state.set(start);
    let sum = 0;
    actions.forEach((action, t) => {
      game.step(state, 0, Float32Array.of(action), 0, generator, result, 0);
      sum += result.rewards[0];
      const isLast = t === ends.steps - 1;
      expect(result.terminated[0] === 1, `step ${t + 1}`).toBe(isLast && ends.terminated);
      expect(result.truncated[0] === 1, `step ${t + 1}`).toBe(isLast && ends.truncated);
      if (!states[t + 1]) return;
      // Sines of different libraries may differ in the last of 16 digits; the swing multiplies such differences.
      states[t + 1].forEach((value, i) => {
        expect(Math.abs(state[i] - value), `value ${i} after step ${t + 1}`).toBeLessThan(1e-10);
      });
      expect(Math.abs(result.rewards[0] - rewards[t + 1]), `reward of step ${t + 1}`).toBeLessThan(1e-6);
    });
    expect(actions).toHaveLength(200);
    expect(Math.abs(sum / ends.return - 1)).toBeLessThan(1e-6);
    const seen = allocateObservations(game.observation, 1);
    game.observe(state, 0, 0, seen, 0);
    observation.forEach((value, i) => {
      expect(Math.abs(seen['state'][i] - value)).toBeLessThan(1e-6);
    });
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
