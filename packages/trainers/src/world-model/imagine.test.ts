import { createGenerator, ndarray } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { byRandomMembers, expectation, type Imagine } from './imagine';

/** Members that say who they are: of row x, member m expects 10 m + x. */
function scripted(members: number, sizes: string[]): Imagine {
  return async ({ x }) => {
    sizes.push(String(x.shape));
    const size = x.data.length / members;
    return {
      y: ndarray(
        Float32Array.from(x.data, (value, i) => 10 * Math.floor(i / size) + value),
        x.shape,
      ),
    };
  };
}

const rowsOf = (count: number) => ({ x: ndarray(Float32Array.from({ length: count }, (_, i) => i / 1000)) });

describe('byRandomMembers', () => {
  it('asks one member for each row, all equally often, anew in every step', async () => {
    const sizes: string[] = [];
    const imagine = scripted(5, sizes);
    const generator = createGenerator(1);
    const counts = new Float64Array(5);
    const assignments = new Set<string>();
    for (let step = 0; step < 40; step++) {
      const { y } = await byRandomMembers(imagine, 5, rowsOf(12), generator);
      expect(y.shape).toEqual([12]);
      const members = Array.from(y.data, (value: number) => Math.round(value / 10));
      members.forEach((member, row) => {
        expect(y.data[row]).toBeCloseTo(10 * member + row / 1000, 4); // its own row, at its own place
        if (row === 0) counts[member]++;
      });
      const each = [0, 1, 2, 3, 4].map((m) => members.filter((member) => member === m).length);
      expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(1);
      assignments.add(String(members));
    }
    expect(assignments.size).toBe(40);
    expect(Math.min(...counts)).toBeGreaterThan(0); // 40 draws of five: odds of a missing member are 1 in 1,500
    expect(new Set(sizes)).toEqual(new Set(['5,4'])); // ceil(12 / 5) = 3 rows each, padded to 4: one graph
  });
});

describe('expectation', () => {
  it('averages members, and tells how they differ', async () => {
    const { imagined, disagreement } = await expectation(scripted(3, []), 3, rowsOf(5));
    expect(imagined['y'].data[4]).toBeCloseTo(10 + 0.004, 4);
    expect(disagreement).toHaveLength(5);
    expect(disagreement[2]).toBeCloseTo(200 / 3, 3); // the variance of 0, 10, 20
  });

  it('cuts many rows into calls', async () => {
    const sizes: string[] = [];
    const { imagined } = await expectation(scripted(1, sizes), 1, rowsOf(5000));
    expect(sizes).toEqual(['4096', '1024']);
    expect(imagined['y'].data[4999]).toBeCloseTo(4.999, 4);
  });
});
