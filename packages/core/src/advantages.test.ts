import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainedVariance, normaliseAdvantages } from './returns';

const golden = [2.302847, 1.49585, 1.7, 0.304107, 1.494];

function expectClose(actual: ArrayLike<number>, expected: readonly number[]): void {
  expected.forEach((value, i) => void expect(actual[i]).toBeCloseTo(value, 5));
}

describe('normaliseAdvantages', () => {
  it('gives the golden values: mean 1.459361, std 0.725727 (ddof 1) or 0.649110 (ddof 0)', () => {
    expectClose(normaliseAdvantages(golden), [1.162319, 0.050282, 0.331599, -1.591933, 0.047733]);
    expectClose(
      normaliseAdvantages(golden, undefined, { ddof: 0 }),
      [1.299512, 0.056217, 0.370739, -1.779835, 0.053367],
    );
  });

  it('is 0 for one row and for a constant of any size (P05)', () => {
    for (const ddof of [0, 1] as const) {
      expect(normaliseAdvantages([7], undefined, { ddof })).toEqual(Float32Array.of(0));
      expect(normaliseAdvantages([], undefined, { ddof })).toEqual(new Float32Array(0));
      expect(normaliseAdvantages(new Float32Array(1001).fill(1e7 / 3), undefined, { ddof })).toEqual(
        new Float32Array(1001),
      );
      expect(normaliseAdvantages([5, Number.NaN], [1, 0], { ddof })).toEqual(new Float32Array(2));
      expect(normaliseAdvantages([Number.NaN], [0], { ddof })).toEqual(new Float32Array(1));
    }
  });

  it('does not see rows of weight 0, even where they hold NaN', () => {
    const padded = [golden[0], Number.NaN, ...golden.slice(1), 1e9];
    const normalised = normaliseAdvantages(padded, [1, 0, 1, 1, 1, 1, 0]);
    expectClose(normalised, [1.162319, 0, 0.050282, 0.331599, -1.591933, 0.047733, 0]);
  });

  it('counts a row of double weight as two rows', () => {
    // [1, 4] with weights [2, 1]: mean 2, variance (2 x 1 + 4) / 3 = 2 over 2 rows, times 2 / 1 for ddof 1.
    expectClose(normaliseAdvantages([1, 4], [2, 1], { ddof: 0 }), [-1 / Math.SQRT2, 2 / Math.SQRT2]);
    expectClose(normaliseAdvantages([1, 4], [2, 1]), [-0.5, 1]);
  });

  it('depends on the ratio of weights only, and gives weighted mean 0 and variance 1', () => {
    const rows = fc.array(fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 0, max: 4 })), {
      minLength: 2,
    });
    fc.assert(
      fc.property(rows, (pairs) => {
        const values = pairs.map(([value]) => value);
        const weights = pairs.map(([, weight]) => weight);
        const normalised = normaliseAdvantages(values, weights, { ddof: 0 });
        const scaled = normaliseAdvantages(
          values,
          weights.map((w) => w / 8),
          { ddof: 0 },
        );
        expectClose(scaled, Array.from(normalised));
        const total = weights.reduce((a, b) => a + b, 0);
        const mean = weights.reduce((sum, w, i) => sum + w * normalised[i], 0) / (total || 1);
        const variance = weights.reduce((sum, w, i) => sum + w * normalised[i] ** 2, 0) / (total || 1);
        expect(mean).toBeCloseTo(0, 5);
        expect(Math.min(Math.abs(variance - 1), Math.abs(variance))).toBeLessThan(1e-4);
      }),
    );
  });

  it('refuses weights that are negative, NaN or too few', () => {
    expect(() => normaliseAdvantages([1, 2], [1])).toThrow(/normaliseAdvantages: expected 2 weights/);
    expect(() => normaliseAdvantages([1, 2], [1, -1])).toThrow(/-1 in row 1/);
    expect(() => normaliseAdvantages([1, 2], [1, Number.NaN])).toThrow(/NaN in row 1/);
  });
});

describe('explainedVariance', () => {
  it('is 1 for a perfect critic, 0 for a constant one, and 1 - Var(R - V) / Var(R) between', () => {
    expect(explainedVariance([1, 2, 3], [1, 2, 3])).toBe(1);
    expect(explainedVariance([5, 5, 5], [1, 2, 3])).toBe(0);
    // R - V = [0, 0, 1]: variance 2/9; Var(R) = 2/3; 1 - 1/3.
    expect(explainedVariance([1, 2, 2], [1, 2, 3])).toBeCloseTo(2 / 3, 12);
  });

  it('is 0, not NaN, where the returns do not vary', () => {
    expect(explainedVariance([1, 2], [3, 3])).toBe(0);
  });

  it('refuses to measure nothing', () => {
    expect(() => explainedVariance([], [])).toThrow(/explainedVariance: expected at least one return/);
    expect(() => explainedVariance([1, 2], [3, 4], [0, 0])).toThrow(/explainedVariance: expected at least one return/);
  });

  it('leaves out rows of weight 0', () => {
    expect(explainedVariance([1, 2, 2, Number.NaN], [1, 2, 3, 9], [1, 1, 1, 0])).toBeCloseTo(2 / 3, 12);
  });
});
