import { describe, expect, it } from 'vitest';
import { actionInfluence } from './influence';

describe('actionInfluence', () => {
  it('is the divergence from the prediction averaged over the own policy', () => {
    // Two actions with chances 1/4 and 3/4; after the first the other does 0 for sure, after the second either.
    const predictions = Float64Array.of(1, 0, 0.5, 0.5);
    const policy = Float64Array.of(0.25, 0.75);
    // Averaged over the own policy: (0.25 + 0.375, 0.375) = (5/8, 3/8).
    const first = Math.log(1 / (5 / 8));
    const second = 0.5 * Math.log(0.5 / (5 / 8)) + 0.5 * Math.log(0.5 / (3 / 8));
    expect(actionInfluence(predictions, policy, Int32Array.of(0))[0]).toBeCloseTo(first, 12);
    expect(actionInfluence(predictions, policy, Int32Array.of(1))[0]).toBeCloseTo(second, 12);
  });

  it('averages to the mutual information of the two actions', () => {
    const predictions = Float64Array.of(0.9, 0.1, 0.2, 0.8);
    const policy = [0.3, 0.7];
    const both = actionInfluence(
      Float64Array.of(...predictions, ...predictions),
      Float64Array.of(...policy, ...policy),
      Int32Array.of(0, 1),
    );
    const entropy = (...chances: number[]) => -chances.reduce((sum, p) => sum + p * Math.log(p), 0);
    const next = [0.3 * 0.9 + 0.7 * 0.2, 0.3 * 0.1 + 0.7 * 0.8];
    const information = entropy(...next) - 0.3 * entropy(0.9, 0.1) - 0.7 * entropy(0.2, 0.8);
    expect(policy[0] * both[0] + policy[1] * both[1]).toBeCloseTo(information, 12);
  });

  it('is 0 where nothing depends on the action, or no other action was to be expected', () => {
    const same = Float64Array.of(0.3, 0.7, 0.3, 0.7);
    expect(actionInfluence(same, Float64Array.of(0.5, 0.5), Int32Array.of(1))[0]).toBeCloseTo(0, 12);
    const different = Float64Array.of(1, 0, 0, 1);
    expect(actionInfluence(different, Float64Array.of(1, 0), Int32Array.of(0))[0]).toBe(0);
  });

  it('does not read lines of actions that are never taken', () => {
    const predictions = Float64Array.of(0.5, 0.5, Number.NaN, Number.NaN);
    expect(actionInfluence(predictions, Float64Array.of(1, 0), Int32Array.of(0))[0]).toBe(0);
  });

  it('refuses arrays that do not fit', () => {
    expect(() => actionInfluence(new Float64Array(4), new Float64Array(3), Int32Array.of(0))).toThrow(/4 predictions/);
  });
});
