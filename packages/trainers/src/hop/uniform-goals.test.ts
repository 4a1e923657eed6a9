import { createGenerator } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { makeUniform } from './uniform-goals';

// One seat is the agent itself; of the other two, one may pursue all three goals, the other can't reach the second any
// more.
const row = [0, 0, 0, 0.7, 0.2, 0.1, 0.9, 0, 0.1];
const uniform = [0, 0, 0, 1 / 3, 1 / 3, 1 / 3, 0.5, 0, 0.5];

describe('makeUniform', () => {
  it('makes open goals equally likely, in rows drawn with the chance', () => {
    const count = 1000;
    const generators = Array.from({ length: count }, (_, i) => createGenerator(i));
    const after = (chance: number) => {
      const beliefs = Float64Array.from({ length: count * 9 }, (_, i) => row[i % 9]);
      makeUniform(beliefs, generators, 3, chance);
      return Array.from({ length: count }, (_, i) => JSON.stringify([...beliefs.subarray(i * 9, i * 9 + 9)]));
    };
    expect(new Set(after(0))).toEqual(new Set([JSON.stringify(row)]));
    expect(new Set(after(1))).toEqual(new Set([JSON.stringify(uniform)]));
    const changed = after(0.25).filter((beliefs) => beliefs === JSON.stringify(uniform)).length;
    expect(Math.abs(changed - 250)).toBeLessThan(55); // four standard deviations
  });
});
