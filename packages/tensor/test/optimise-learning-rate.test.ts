import { constant, cosine, linear } from '@coplay/core';
import { learningRate } from '@coplay/tensor';
import { describe, expect, it } from 'vitest';
import { expectNumbers } from './numbers';

const rates = (options: Parameters<typeof learningRate>[0], updates: number[]) => updates.map(learningRate(options));

describe('learningRate', () => {
  it('is a number', () => {
    expect(rates({ rate: 3e-4 }, [0, 1, 1e6])).toEqual([3e-4, 3e-4, 3e-4]);
    expect(rates({ rate: constant(0.5), updates: 10 }, [0, 9, 20])).toEqual([0.5, 0.5, 0.5]);
  });

  it("rises first: DreamerV3's warm-up, in which the first update has rate 0", () => {
    const [first, second, ...later] = rates({ rate: 4e-5, warmUp: 1000 }, [0, 1, 500, 999, 1000, 1e7]);
    expect(first).toBe(0);
    expect(second).toBeCloseTo(4e-8, 15);
    expectNumbers(later, [2e-5, 3.996e-5, 4e-5, 4e-5], 12);
  });

  it('follows a schedule from the first update to the last', () => {
    expect(rates({ rate: linear(1, 0), updates: 5 }, [0, 1, 2, 3, 4, 5])).toEqual([1, 0.75, 0.5, 0.25, 0, 0]);
  });

  it('follows it after the warm-up', () => {
    // Updates 0 to 3 rise by quarters to 2; 4 to 8 are the cosine at 0, 1/4, 1/2, 3/4 and 1.
    const got = rates({ rate: cosine(2, 0), updates: 9, warmUp: 4 }, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const expected = [0, 0.5, 1, 1.5, 2, 1 + Math.SQRT1_2, 1, 1 - Math.SQRT1_2, 0, 0];
    expectNumbers(got, expected, 12);
  });

  it('works for one update', () => {
    expect(rates({ rate: linear(1, 0), updates: 1 }, [0, 1])).toEqual([1, 0]);
  });

  it.each([
    [{ rate: -1 }, /learningRate: option rate/],
    [{ rate: 1, warmUp: 1.5 }, /learningRate: option warmUp/],
    [{ rate: linear(1, 0) }, /learningRate: expected updates, for a schedule/],
    [{ rate: 1, warmUp: 5, updates: 5 }, /learningRate: expected a warmUp below updates \(5\), got 5/],
  ])('refuses %o', (options, message) => {
    expect(() => learningRate(options)).toThrow(message);
  });
});
