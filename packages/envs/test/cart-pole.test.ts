import { readFileSync } from 'node:fs';
import { assertGame, createGenerator, parallelEnv } from '@coplay/core';
import { allocateObservations, allocateStepArrays } from '@coplay/core/arrays';
import { cartPole } from '@coplay/envs';
import { describe, expect, it } from 'vitest';

/** See data/make_cartpole_golden.py. */
interface Golden {
  readonly start: readonly number[];
  /** One digit an action. */
  readonly actions: string;
  /** State after some of the steps. */
  readonly states: Readonly<Record<string, readonly number[]>>;
  /** The last one. */
  readonly observation: readonly number[];
  readonly return: number;
  readonly terminated: boolean;
  readonly truncated: boolean;
}

const golden = JSON.parse(readFileSync(new URL('./data/cartpole-golden.json', import.meta.url), 'utf8'));
const cases = Object.entries(golden.cases as Record<string, Golden>);

describe('cartPole', () => {
  it('keeps the contract', () => {
    assertGame(cartPole());
    assertGame(cartPole({ maxSteps: 5 }));
  });

  it.each(cases)('moves as Gymnasium does: %s', (_, { start, actions, states, observation, ...ends }) => {
    const game = cartPole();
    const generator = createGenerator(0);
    const state = new Float64Array(game.stateSize);
    const result = allocateStepArrays(game, 1);
    game.reset(state, 0, generator);
    state.set(start);
    let sum = 0;
    [...actions].forEach((action, t) => {
      game.step(state, 0, Int32Array.of(Number(action)), 0, generator, result, 0);
      sum += result.rewards[0];
      const isLast = t === actions.length - 1;
      expect(result.terminated[0] === 1, `step ${t + 1}`).toBe(isLast && ends.terminated);
      expect(result.truncated[0] === 1, `step ${t + 1}`).toBe(isLast && ends.truncated);
      // Sines of different libraries may differ in the last of 16 digits.
      states[t + 1]?.forEach((value, i) => {
        expect(Math.abs(state[i] - value), `value ${i} after step ${t + 1}`).toBeLessThan(1e-12);
      });
    });
    expect(sum).toBe(ends.return);
    const seen = allocateObservations(game.observation, 1);
    game.observe(state, 0, 0, seen, 0);
    expect(Array.from(seen['state'])).toEqual(observation);
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
