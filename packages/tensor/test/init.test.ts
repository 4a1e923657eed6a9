import { createGenerator } from '@coplay/core';
import { glorotUniform, orthogonal, truncatedNormal, zeros } from '@coplay/tensor';
import { describe, expect, it } from 'vitest';

/** Largest deviation of the Gram matrix of the shorter side from gain^2 times the identity. */
function deviation(data: Float32Array, rows: number, columns: number, gain: number): number {
  const count = Math.min(rows, columns);
  const at = (vector: number, i: number) => (rows < columns ? data[vector * columns + i] : data[i * columns + vector]);
  let worst = 0;
  for (let a = 0; a < count; a++) {
    for (let b = 0; b < count; b++) {
      let product = 0;
      for (let i = 0; i < Math.max(rows, columns); i++) product += at(a, i) * at(b, i);
      worst = Math.max(worst, Math.abs(product - (a === b ? gain * gain : 0)));
    }
  }
  return worst;
}

describe('orthogonal', () => {
  it.each([
    [[3, 5], 1],
    [[5, 3], Math.SQRT2],
    [[4, 4], 0.01],
    [[64, 16], 1],
  ])('shape %s, gain %s: rows or columns are orthogonal and of length gain', (shape, gain) => {
    const { data } = orthogonal(createGenerator(1), shape, gain);
    expect(deviation(data, shape[0], shape[1], gain)).toBeLessThan(1e-6);
  });

  it('takes all dimensions of a convolution but the last as rows', () => {
    const kernel = orthogonal(createGenerator(2), [3, 3, 2, 8]);
    expect(kernel.shape).toEqual([3, 3, 2, 8]);
    expect(deviation(kernel.data, 18, 8, 1)).toBeLessThan(1e-6);
  });

  it('is spread evenly: no direction and neither orientation is favoured', () => {
    const draws = Array.from({ length: 400 }, (_, seed) => orthogonal(createGenerator(seed), [2, 2]).data);
    const mean = draws.reduce((sum, [a]) => sum + a, 0) / 400;
    const rotations = draws.filter(([a, b, c, d]) => a * d - b * c > 0).length;
    // Standard deviations: sqrt(1/2 / 400) = 0.035 of the mean, sqrt(400) / 2 = 10 of the count; four of each.
    expect(Math.abs(mean)).toBeLessThan(0.14);
    expect(Math.abs(rotations - 200)).toBeLessThan(40);
  });
});

describe('others', () => {
  it('glorotUniform fills +-sqrt(6 / (fanIn + fanOut)), also for convolutions', () => {
    for (const [shape, limit] of [
      [[30, 20], Math.sqrt(6 / 50)],
      [[3, 3, 8, 4], Math.sqrt(6 / (9 * 12))],
    ] as const) {
      const { data } = glorotUniform(createGenerator(3), shape);
      const largest = Math.max(...data.map(Math.abs));
      expect(largest).toBeLessThanOrEqual(Math.fround(limit));
      expect(largest).toBeGreaterThan(0.97 * limit);
      expect(Math.abs(data.reduce((a, b) => a + b, 0) / data.length)).toBeLessThan(0.2 * limit);
    }
  });

  it('truncatedNormal stays within two standard deviations; its own is 0.8796 of the full one', () => {
    const { data } = truncatedNormal(createGenerator(4), [100, 100], 0.5);
    expect(Math.max(...data.map(Math.abs))).toBeLessThanOrEqual(1);
    const variance = data.reduce((sum, x) => sum + x * x, 0) / data.length;
    // 1 - 2 x 2 phi(2) / (2 Phi(2) - 1) = 0.7737 is the variance of a standard normal cut at 2; the root is 0.8796.
    expect(Math.sqrt(variance) / 0.5).toBeCloseTo(0.8796, 1);
  });

  it('zeros', () => {
    expect(zeros([2, 3])).toEqual({ data: new Float32Array(6), shape: [2, 3] });
  });

  it('a seed gives the same bits, another seed other ones', () => {
    const makers = [
      orthogonal,
      glorotUniform,
      (g: Parameters<typeof orthogonal>[0], s: number[]) => truncatedNormal(g, s, 1),
    ];
    for (const make of makers) {
      expect(make(createGenerator(7), [8, 4]).data).toEqual(make(createGenerator(7), [8, 4]).data);
      expect(make(createGenerator(7), [8, 4]).data).not.toEqual(make(createGenerator(8), [8, 4]).data);
    }
  });

  it('refuses shapes that are no kernels', () => {
    expect(() => orthogonal(createGenerator(1), [4])).toThrow(
      /orthogonal: expected a shape of at least two positive dimensions, got \[4\]/,
    );
    expect(() => glorotUniform(createGenerator(1), [0, 4])).toThrow(/glorotUniform/);
  });
});
