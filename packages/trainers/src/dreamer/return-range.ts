import { checkArgument, checkNumber } from '@coplay/core';
import { checkTensor, stopGradient, tf } from '@coplay/tensor';
import { z } from 'zod';

/** Running percentiles of returns, scalars; both 0 in the beginning. */
export interface ReturnRange {
  readonly low: tf.Scalar;
  readonly high: tf.Scalar;
}

const optionsSchema = z.record(z.string(), z.unknown());

/** Options of {@link trackReturns}. */
export interface ReturnRangeOptions {
  /** Share of the new percentiles, in (0, 1]. Default 0.01 */
  readonly rate?: number;
  /** The lower quantile; the upper one is 1 less this. Default 0.05 */
  readonly quantile?: number;
  /** The least that returns are divided by. Default 1 */
  readonly least?: number;
}

/**
 * DreamerV3's normaliser of returns (Hafner et al. 2023, eq. 12): exponential means of the 5th and 95th percentile, and
 * scale = max(1, high - low), by which advantages are divided. The means begin at 0 and aren't corrected for it.
 *
 * @param returns any shape; all have the same weight
 */
export function trackReturns(
  range: ReturnRange,
  returns: tf.Tensor,
  options: ReturnRangeOptions = {},
): ReturnRange & { readonly scale: tf.Scalar } {
  checkArgument('trackReturns', 'options', optionsSchema, options);
  const { rate = 0.01, quantile = 0.05, least = 1 } = options;
  checkTensor('trackReturns', 'range.low', range?.low);
  checkTensor('trackReturns', 'range.high', range.high);
  checkTensor('trackReturns', 'returns', returns);
  checkNumber('trackReturns', 'rate', rate, { above: 0, max: 1 });
  checkNumber('trackReturns', 'quantile', quantile, { min: 0, max: 0.5 });
  checkNumber('trackReturns', 'least', least, { above: 0 });
  const all = stopGradient(returns);
  const move = (mean: tf.Scalar, value: tf.Scalar): tf.Scalar => tf.add(tf.mul(mean, 1 - rate), tf.mul(value, rate));
  const low = move(range.low, lowerQuantile(all, quantile));
  const high = move(range.high, tf.neg(lowerQuantile(tf.neg(all), quantile)));
  return { low, high, scale: tf.maximum(tf.sub(high, low), least) };
}

/**
 * The quantile q of all numbers, linearly between the two nearest as numpy's `percentile` does. Without a gradient.
 *
 * @param x [...] at least one number
 * @param q in [0, 0.5]
 * @returns []
 */
export function lowerQuantile(x: tf.Tensor, q: number): tf.Scalar {
  checkTensor('lowerQuantile', 'x', x);
  checkNumber('lowerQuantile', 'q', q, { min: 0, max: 0.5 });
  const place = q * (x.size - 1);
  const below = Math.floor(place);
  const count = Math.min(x.size, below + 2);
  const { values } = tf.topk(tf.neg(tf.reshape(x, [-1])), count, true);
  const least = (i: number) => tf.reshape(tf.slice(values, [Math.min(i, count - 1)], [1]), []);
  const share = place - below;
  return tf.neg(tf.add(tf.mul(least(below), 1 - share), tf.mul(least(below + 1), share))) as tf.Scalar;
}
