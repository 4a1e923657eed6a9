import { createGenerator } from '@coplay/core';
import {
  bandOverRuns,
  bootstrap,
  interquartileMean,
  mean,
  median,
  permutationTest,
  quantile,
  smooth,
  standardDeviation,
  twoSamplePermutationTest,
  variance,
  welchTest,
} from '@coplay/diagnostics/statistics';
import { describe, expect, it } from 'vitest';

describe('mean, variance, quantiles', () => {
  it('agree with values by hand', () => {
    expect(mean([1, 2, 6])).toBe(3);
    // (4 + 1 + 9) / 2
    expect(variance([1, 2, 6])).toBe(7);
    expect(standardDeviation([1, 5])).toBeCloseTo(Math.sqrt(8), 12);
    expect(median([5, 1, 3])).toBe(3);
    expect(median([5, 1, 3, 4])).toBe(3.5);
    // Position 0.25 * 3 = 0.75 of 10, 20, 40, 80.
    expect(quantile([80, 10, 40, 20], 0.25)).toBe(17.5);
    expect(quantile([3, 1, 2], 0)).toBe(1);
    expect(quantile([3, 1, 2], 1)).toBe(3);
  });

  it('does not lose digits far from zero', () => {
    expect(variance([1e9 + 1, 1e9 + 2, 1e9 + 3])).toBe(1);
  });

  it('leaves its argument alone', () => {
    const values = [3, 1, 2];
    median(values);
    interquartileMean(values);
    expect(values).toEqual([3, 1, 2]);
  });

  it('refuses values that are not finite, which would make every figure NaN', () => {
    expect(() => mean([1, Number.NaN])).toThrow(
      'mean: values: expected a finite number at index 1, got NaN. Change values[1].',
    );
    expect(() => bootstrap([Number.POSITIVE_INFINITY, 1])).toThrow(/bootstrap: values: .* at index 0, got Infinity/);
  });

  it('refuses too few values', () => {
    expect(() => mean([])).toThrow(/mean: values: expected an array of at least 1 number, got \[\]/);
    expect(() => standardDeviation([1])).toThrow(/standardDeviation: values: expected an array of at least 2 numbers/);
    expect(() => quantile([1], 1.1)).toThrow(/quantile: probability: expected a finite number from 0 to 1/);
    expect(() => median(undefined as never)).toThrow(/median: values: expected/);
  });
});

describe('interquartileMean', () => {
  it('drops a quarter at each end, rounded down', () => {
    // 8 values: two at each end are dropped, (3 + 4 + 5 + 6) / 4 is left.
    expect(interquartileMean([1000, 1, 2, 3, 4, 5, 6, -1000])).toBe(3.5);
    // 5 values: one at each end.
    expect(interquartileMean([0, 10, 1, 2, 6])).toBe(3);
    expect(interquartileMean([1, 5, 9])).toBe(5);
    expect(interquartileMean([7])).toBe(7);
  });
});

describe('bootstrap', () => {
  it('covers the true mean about as often as it says', { tags: ['slow'] }, () => {
    const generator = createGenerator(1);
    let covered = 0;
    const trials = 400;
    for (let trial = 0; trial < trials; trial++) {
      const sample = Array.from({ length: 40 }, () => generator.normal());
      const { lower, upper } = bootstrap(sample, { resamples: 400, seed: trial });
      if (lower <= 0 && upper >= 0) covered++;
    }
    // Expected 0.94 (percentile intervals are a little narrow), standard deviation sqrt(.94 * .06 / 400) = 0.012.
    expect(covered / trials).toBeGreaterThan(0.9);
    expect(covered / trials).toBeLessThan(0.98);
  });

  it('has the quantiles of the exact distribution of resampled means', () => {
    // Means of 4 draws out of {0, 1}: binomial(4, 1/2) / 4. P(0) = 1/16 > 0.05, so a 90 % interval reaches 0 and 1;
    // P(<= 0.25) = 5/16 and P(0) = 0.0625 < 0.1, so an 80 % interval reaches 0.25 and 0.75.
    const values = [0, 0, 1, 1];
    expect(bootstrap(values, { confidence: 0.9 })).toMatchObject({ value: 0.5, lower: 0, upper: 1, count: 4 });
    expect(bootstrap(values, { confidence: 0.8 })).toMatchObject({ lower: 0.25, upper: 0.75 });
  });

  it('is the same for the same seed, and moves with another', () => {
    const values = [2.861, 2.862, 2.781, 2.7, 2.5];
    expect(bootstrap(values, { seed: 3, resamples: 100 })).toEqual(bootstrap(values, { seed: 3, resamples: 100 }));
    expect(bootstrap(values, { seed: 3, resamples: 100 })).not.toEqual(bootstrap(values, { seed: 4, resamples: 100 }));
  });

  it('takes another statistic, and has no interval for one value', () => {
    expect(bootstrap([1, 2, 9], { statistic: median }).value).toBe(2);
    expect(bootstrap([4])).toEqual({ value: 4, lower: Number.NaN, upper: Number.NaN, count: 1 });
  });

  it('refuses wrong options', () => {
    expect(() => bootstrap([1], { confidence: 95 })).toThrow(/bootstrap: option confidence/);
    expect(() => bootstrap([1], { samples: 5 } as object)).toThrow(/unknown option "samples".*resamples/);
    expect(() => bootstrap([])).toThrow(/bootstrap: values: expected an array of at least 1 number/);
  });
});

/** The p-value by brute force over all orders of all rows, the first one included. */
function bruteForce(rows: readonly (readonly number[])[]): number {
  const orders = (list: readonly number[]): number[][] =>
    list.length === 0 ? [[]] : list.flatMap((x, i) => orders(list.toSpliced(i, 1)).map((rest) => [x, ...rest]));
  const tables = rows.reduce<number[][][]>(
    (done, row) => done.flatMap((table) => orders(row).map((order) => [...table, order])),
    [[]],
  );
  const spread = (table: readonly (readonly number[])[]) => {
    const sums = table[0].map((_, a) => table.reduce((sum, row) => sum + row[a], 0));
    const centre = sums.reduce((sum, value) => sum + value, 0) / sums.length;
    return sums.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  };
  const observed = spread(rows);
  return tables.filter((table) => spread(table) >= observed - 1e-9).length / tables.length;
}

describe('permutationTest', () => {
  it('is exact by hand', () => {
    // Agent 1 is ahead in all of 3 seeds. Of 2^3 relabellings this one and its mirror image are as extreme: 2/8.
    const ahead = permutationTest([
      [0, 1],
      [0, 1],
      [0, 1],
    ]);
    expect(ahead).toMatchObject({ pValue: 0.25, isExact: true, permutations: 4, smallestPValue: 0.25 });
    // Means 0 and 1: variance 0.25.
    expect(ahead.statistic).toBe(0.25);
    // Ahead once each: nothing is less extreme.
    expect(
      permutationTest([
        [0, 1],
        [1, 0],
      ]).pValue,
    ).toBe(1);
  });

  it('agrees with brute force on random tables', () => {
    const generator = createGenerator(5);
    for (let trial = 0; trial < 10; trial++) {
      const rows = Array.from({ length: 3 }, () => Array.from({ length: 3 }, () => generator.integer(4)));
      expect(permutationTest(rows).pValue).toBeCloseTo(bruteForce(rows), 12);
    }
  });

  it('draws relabellings where there are too many, close to the exact value', () => {
    const rows = [
      [1, 2, 3, 5],
      [2, 1, 4, 5],
      [1, 3, 2, 6],
    ];
    const exact = permutationTest(rows);
    const drawn = permutationTest(rows, { permutations: 500, seed: 1 });
    expect(exact).toMatchObject({ isExact: true, permutations: 576 });
    expect(drawn).toMatchObject({ isExact: false, permutations: 500 });
    // Standard error of a share of 500.
    const error = Math.sqrt((exact.pValue * (1 - exact.pValue)) / 500);
    expect(Math.abs(drawn.pValue - exact.pValue)).toBeLessThan(4 * error + 1 / 501);
    expect(drawn.pValue).toBeGreaterThan(0);
  });

  it('calls equal agents unequal as often as its level says', () => {
    const generator = createGenerator(2);
    let found = 0;
    const trials = 600;
    for (let trial = 0; trial < trials; trial++) {
      const rows = Array.from({ length: 4 }, () => Array.from({ length: 3 }, () => generator.normal()));
      if (permutationTest(rows).pValue <= 0.1) found++;
    }
    // 0.1 with standard deviation sqrt(.1 * .9 / 600) = 0.012.
    expect(found / trials).toBeGreaterThan(0.06);
    expect(found / trials).toBeLessThan(0.14);
  });

  it('is not fooled by roles that differ from seed to seed, and finds a favoured agent', () => {
    const roles = [2.9, 2.5, 2.8, 2.86];
    const rotated = Array.from({ length: 8 }, (_, s) => roles.map((_, a) => roles[(a + s) % 4]));
    expect(permutationTest(rotated).pValue).toBeGreaterThan(0.9);
    expect(permutationTest(Array.from({ length: 8 }, () => roles)).pValue).toBeLessThan(0.001);
  });

  it('refuses what is no table of seeds and agents', () => {
    expect(() => permutationTest([[1, 2]])).toThrow(/at least two seeds/);
    expect(() => permutationTest([[1], [2]])).toThrow(/two or more agents/);
    expect(() => permutationTest([[1, 2], [3]])).toThrow(/same two or more agents/);
    expect(() =>
      permutationTest([
        [1, 2],
        [3, Number.NaN],
      ]),
    ).toThrow(/means\[1\]: expected a finite number at index 1, got NaN/);
  });
});

describe('twoSamplePermutationTest', () => {
  it('is exact by hand', () => {
    // Of 20 splits {1,2,3 | 4,5,6} and its mirror image are the most extreme.
    const result = twoSamplePermutationTest([1, 2, 3], [4, 5, 6]);
    expect(result).toMatchObject({ statistic: -3, pValue: 0.1, isExact: true, permutations: 20, smallestPValue: 0.1 });
    // {1}, {2, 6}: differences |1 - 4|, |2 - 3.5|, |6 - 1.5|: two of three are at least 3.
    expect(twoSamplePermutationTest([1], [2, 6])).toMatchObject({ pValue: 2 / 3, permutations: 3 });
  });

  it('draws where there are too many splits', () => {
    const first = Array.from({ length: 20 }, (_, i) => i);
    const second = first.map((value) => value + 15);
    const result = twoSamplePermutationTest(first, second, { permutations: 2000 });
    expect(result.isExact).toBe(false);
    expect(result.pValue).toBeLessThan(0.01);
    expect(twoSamplePermutationTest(first, first, { permutations: 2000 }).pValue).toBe(1);
  });
});

describe('welchTest', () => {
  it('has the closed form of two degrees of freedom', () => {
    // Variances 2 and 2, so a = b = 1: t = -3 / sqrt 2, df = 4 / 2 = 2, and p = 1 - |t| / sqrt(2 + t^2) for df = 2.
    const { t, degreesOfFreedom, pValue } = welchTest([0, 2], [3, 5]);
    expect(t).toBeCloseTo(-3 / Math.SQRT2, 12);
    expect(degreesOfFreedom).toBeCloseTo(2, 12);
    expect(pValue).toBeCloseTo(1 - 3 / Math.SQRT2 / Math.sqrt(6.5), 10);
  });

  it('agrees with a published example', () => {
    // Wikipedia, "Welch's t-test", example 1: t = -2.46, df = 24.99, p = 0.021.
    const first = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
    const second = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4];
    const { t, degreesOfFreedom, pValue } = welchTest(first, second);
    expect(t).toBeCloseTo(-2.46, 2);
    expect(degreesOfFreedom).toBeCloseTo(24.99, 2);
    expect(pValue).toBeCloseTo(0.021, 3);
  });

  it('is symmetric, and 1 for equal means', () => {
    expect(welchTest([1, 2, 3], [1, 3, 2]).pValue).toBe(1);
    expect(welchTest([1, 2, 4], [3, 5, 9]).pValue).toBeCloseTo(welchTest([3, 5, 9], [1, 2, 4]).pValue, 14);
  });
});

describe('bandOverRuns', () => {
  it('takes means between the points of curves that are logged at different steps', () => {
    const band = bandOverRuns(
      [
        { steps: [0, 100, 200], values: [0, 1, 2] },
        { steps: [50, 150, 300], values: [10, 20, 20] },
      ],
      3,
    );
    // Both cover 50 to 200; first: 0.5, 1.25, 2; second: 10, 17.5, 20.
    expect(band.steps).toEqual([50, 125, 200]);
    expect(band.mean).toEqual([5.25, 9.375, 11]);
    expect(band.lower[0]).toBe(0.5);
    expect(band.upper[0]).toBe(10);
  });

  it('leaves NaN out, and has no interval for one run', () => {
    const band = bandOverRuns([{ steps: [0, 10, 20], values: [0, Number.NaN, 4] }], 3);
    expect(band.mean).toEqual([0, 2, 4]);
    expect(band.lower.every(Number.isNaN)).toBe(true);
  });

  it('refuses curves without values or in disorder', () => {
    expect(() => bandOverRuns([])).toThrow(/one curve or more/);
    expect(() => bandOverRuns([{ steps: [1], values: [Number.NaN] }])).toThrow(/curve 0/);
    expect(() => bandOverRuns([{ steps: [1, 0], values: [1, 2] }])).toThrow(/ascending/);
    expect(() => bandOverRuns([{ steps: [1, 2], values: [1] }])).toThrow(/as many values/);
  });
});

describe('smooth', () => {
  it('averages the last points, NaN left out', () => {
    const { values } = smooth({ steps: [1, 2, 3, 4], values: [2, 4, Number.NaN, 8] }, 2);
    expect(values).toEqual([2, 3, 4, 8]);
    expect(() => smooth({ steps: [], values: [] }, 0)).toThrow(/smooth: window: expected a whole number of at least 1/);
  });
});
