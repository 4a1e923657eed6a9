import { checkOptions } from '@coplay/core';
import { checkNumbers } from '@coplay/core/checks';
import { z } from 'zod';
import { quantileOfSorted } from '../statistics/summary';

/** How often values fell into bins of equal width. */
export interface Histogram {
  /** [bins + 1] ascending; a bin holds its lower edge, the last one its upper edge too */
  readonly edges: readonly number[];
  /** [bins] */
  readonly counts: readonly number[];
}

/** How numbers are spread. Every figure but the counts is NaN where there are no numbers. */
export interface Distribution {
  /** Finite numbers, which all that follows is made of. */
  readonly count: number;
  /** Numbers that were NaN or infinite: more than 0 is a fault. */
  readonly notFinite: number;
  readonly mean: number;
  /** With divisor n: of these numbers, not an estimate of a population's. */
  readonly variance: number;
  readonly min: number;
  readonly max: number;
  /** By percent: `{ 5: 0, 25: 0.1, 50: 0.4, 75: 1, 95: 5 }`; linear between order statistics, as in `quantile`. */
  readonly quantiles: Readonly<Record<number, number>>;
  readonly histogram: Histogram;
}

/** Options of {@link distributionOf}. */
export interface DistributionOptions {
  /** Bins of the histogram; at least 1. Default 20 */
  readonly bins?: number;
  /**
   * Ends of the histogram; numbers outside are counted in the bin at that end. Default: the least and the greatest
   * number
   */
  readonly range?: readonly [lowest: number, highest: number];
  /** Which quantiles, in percent, each from 0 to 100. Default 5, 25, 50, 75 and 95 */
  readonly percents?: readonly number[];
}

/** Of {@link DistributionOptions}. */
export const distributionSchema = z.strictObject({
  bins: z.int().min(1).default(20),
  range: z
    .tuple([z.number(), z.number()])
    .refine(([low, high]) => low <= high, { error: 'two numbers, the lower one first' })
    .optional(),
  percents: z.array(z.number().min(0).max(100)).readonly().default([5, 25, 50, 75, 95]),
});

/**
 * Count, mean, variance, extremes, quantiles and histogram of numbers.
 *
 * @param values  [n], n >= 0
 * @throws CoplayError for wrong options
 */
export function distributionOf(values: ArrayLike<number>, options: DistributionOptions = {}): Distribution {
  const { bins, range, percents } = checkOptions('distributionOf', distributionSchema, options);
  checkNumbers('distributionOf', 'values', values, { nan: true });
  const sorted = Float64Array.from(values).filter(Number.isFinite).sort();
  const count = sorted.length;
  const min = count > 0 ? sorted[0] : Number.NaN;
  const max = count > 0 ? sorted[count - 1] : Number.NaN;
  const quantileAt = (percent: number) => (count > 0 ? quantileOfSorted(sorted, percent / 100) : Number.NaN);
  return {
    count,
    notFinite: values.length - count,
    ...moments(sorted),
    min,
    max,
    quantiles: Object.fromEntries(percents.map((percent) => [percent, quantileAt(percent)])),
    histogram: histogramOf(sorted, bins, range ?? (count > 0 ? [min, max] : [0, 0])),
  };
}

/** Mean, then mean squared distance from it: a difference of large squares would lose digits. */
function moments(values: Float64Array): Pick<Distribution, 'mean' | 'variance'> {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, variance };
}

function histogramOf(values: Float64Array, bins: number, [low, high]: readonly [number, number]): Histogram {
  // All numbers equal: one unit around them.
  const [start, end] = high > low ? [low, high] : [low - 0.5, low + 0.5];
  const width = (end - start) / bins;
  const counts = new Array<number>(bins).fill(0);
  for (const value of values) {
    counts[Math.min(bins - 1, Math.max(0, Math.floor((value - start) / width)))]++;
  }
  return { edges: Array.from({ length: bins + 1 }, (_, i) => start + i * width), counts };
}
