import { checkOptions, createGenerator, type Generator, streamSeed } from '@coplay/core';
import { functions } from '@coplay/core/checks';
import { z } from 'zod';
import { checkValues, mean, quantileOfSorted } from './summary';

/** A figure with its uncertainty. */
export interface Estimate {
  readonly value: number;
  /** Lower end of the confidence interval; NaN where one value gives none. */
  readonly lower: number;
  readonly upper: number;
  /** Number of values, mostly seeds, that it rests on. */
  readonly count: number;
}

/** Options of {@link bootstrap}. */
export interface BootstrapOptions {
  /** The statistic that is estimated from the values. Default {@link mean} */
  readonly statistic?: (values: ArrayLike<number>) => number;
  /** Coverage of the interval, in (0, 1). Default 0.95 */
  readonly confidence?: number;
  /** Number of resamples; at least 1. Default 10,000 */
  readonly resamples?: number;
  /** Seed of the resampling, from 0 to 2^53 - 1. Default 0 */
  readonly seed?: number;
}

/** The options of every bootstrap. */
export const resamplingSchema = z
  .object({
    confidence: z.number().gt(0).lt(1).default(0.95),
    resamples: z.number().int().min(1).default(10_000),
    seed: z.number().int().min(0).default(0),
  })
  .strict();

const schema = resamplingSchema.extend({
  statistic: functions<(values: ArrayLike<number>) => number>().default(() => mean),
});

/**
 * A statistic of the values with its percentile bootstrap interval (Efron 1979). The values are resampled with
 * replacement: give one value per seed, not per episode, as episodes of one run are not independent.
 *
 * With fewer than five values the interval is too narrow: it can't reach beyond the smallest and the largest one.
 *
 * @param values  [n], n >= 1
 * @throws CoplayError for no values or wrong options
 */
export function bootstrap(values: ArrayLike<number>, options: BootstrapOptions = {}): Estimate {
  const { statistic, confidence, resamples, seed } = checkOptions('bootstrap', schema, options);
  checkValues('bootstrap', values, 1);
  const count = values.length;
  const value = statistic(values);
  if (count === 1) return { value, lower: Number.NaN, upper: Number.NaN, count };
  const results = resample(values, statistic, resamples, createGenerator(streamSeed(seed, 'bootstrap')));
  return { value, ...percentileInterval(results, confidence), count };
}

/** The percentile interval of a statistic's values over resamples, which are sorted in place. */
export function percentileInterval(results: Float64Array, confidence: number): Pick<Estimate, 'lower' | 'upper'> {
  const tail = (1 - confidence) / 2;
  results.sort();
  return { lower: quantileOfSorted(results, tail), upper: quantileOfSorted(results, 1 - tail) };
}

function resample(
  values: ArrayLike<number>,
  statistic: (values: ArrayLike<number>) => number,
  resamples: number,
  generator: Generator,
): Float64Array {
  const sample = new Float64Array(values.length);
  const results = new Float64Array(resamples);
  for (let i = 0; i < resamples; i++) {
    for (let j = 0; j < sample.length; j++) sample[j] = values[generator.integer(values.length)];
    results[i] = statistic(sample);
  }
  return results;
}
