/*
 * Returns of imagined and of replayed steps, and their range (Hafner et al. 2023, arXiv v2, eq. 5 and 7). Shapes: N
 * stretches of T steps; B replayed sequences of K steps.
 */
import { checkShapes } from '@coplay/core';
import { checkArgument, checkNumber, checkRecord } from '@coplay/core/checks';
import { checkTensor, stopGradient, tf } from '@coplay/tensor';
import { z } from 'zod';

/** A stretch of T steps, [N, T] each. Rewards and flags of index t were met on arriving at state t. */
export interface ReturnInputs {
  readonly rewards: tf.Tensor2D;
  /** Discounts: 0 where an episode ended in state t. */
  readonly discounts: tf.Tensor2D;
  /** lambda, or 0 where the stretch breaks off after state t though play could have gone on. */
  readonly traces: tf.Tensor2D | number;
  /** Values, used for what lies beyond. */
  readonly values: tf.Tensor2D;
}

/**
 * Lambda-returns with rewards on arrival (Hafner et al. 2023, arXiv v2, eq. 5, in the indices of DreamerV3's code), for
 * t = 0..T-2 and with R_(T-1) = v_(T-1):
 *
 *   R_t = r_(t+1) + d_(t+1) ((1 - l_(t+1)) v_(t+1) + l_(t+1) R_(t+1))
 *
 * @returns [N, T - 1]
 * @throws CoplayError for tensors of different shapes
 */
export function arrivalReturns(inputs: ReturnInputs): tf.Tensor2D {
  checkRecord('arrivalReturns', 'inputs', inputs);
  const { rewards, discounts, traces, values } = inputs;
  checkShapes('arrivalReturns', { rewards, discounts, values }, 'N T');
  if (typeof traces === 'number') checkNumber('arrivalReturns', 'traces', traces, { min: 0, max: 1 });
  else checkShapes('arrivalReturns', { rewards, traces }, 'N T');
  const near = tf.add(rewards, tf.mul(tf.mul(discounts, tf.sub(1, traces)), values)); // [N, T]
  const nears = tf.unstack(near, 1); // T of [N]
  const fars = tf.unstack(tf.mul(discounts, traces), 1); // T of [N]
  const returns: tf.Tensor[] = [];
  let next = tf.unstack(values, 1).at(-1)!; // [N]
  for (let t = nears.length - 1; t > 0; t--) {
    next = tf.add(nears[t], tf.mul(fars[t], next));
    returns.unshift(next);
  }
  return tf.stack(returns, 1) as tf.Tensor2D;
}

/**
 * How much imagined step t counts: the chance that the episode still goes on, prod_(i <= t) c_i. It begins with c_0,
 * the real state's: an imagination that starts at an episode's end doesn't count. No gradient flows.
 *
 * @param discounts c [N, T], the continue head's means, which have the discount in them
 * @returns [N, T]
 */
export function imaginedWeights(discounts: tf.Tensor2D): tf.Tensor2D {
  checkTensor('imaginedWeights', 'discounts', discounts);
  return tf.cumprod(discounts, 1);
}

/** Inputs of {@link replayReturns}, [B, K] each. */
export interface ReplayInputs {
  readonly rewards: tf.Tensor2D;
  /** 1 where the episode ended in state t, and nothing can follow. */
  readonly isTerminal: tf.Tensor2D;
  /** 1 where an episode's record ends with state t, for any reason. */
  readonly isLast: tf.Tensor2D;
  /** Imagined returns from each state: the values that lie beyond. */
  readonly imagined: tf.Tensor2D;
}

/**
 * Targets of the critic on replayed sequences: {@link arrivalReturns} of real rewards, with imagined returns as values.
 *
 * @param discount 1 - 1/horizon
 * @param lambda   in [0, 1]
 * @returns [B, K - 1]
 * @throws CoplayError for tensors of different shapes
 */
export function replayReturns(inputs: ReplayInputs, discount: number, lambda: number): tf.Tensor2D {
  checkRecord('replayReturns', 'inputs', inputs);
  checkNumber('replayReturns', 'discount', discount, { min: 0, max: 1 });
  checkNumber('replayReturns', 'lambda', lambda, { min: 0, max: 1 });
  const { rewards, isTerminal, isLast, imagined } = inputs;
  checkShapes('replayReturns', { rewards, isTerminal, isLast, imagined }, 'B K');
  const discounts = tf.mul(tf.sub(1, isTerminal), discount) as tf.Tensor2D; // [B, K]
  const traces = tf.mul(tf.sub(1, isLast), lambda) as tf.Tensor2D; // [B, K]
  return arrivalReturns({ rewards, discounts, traces, values: imagined });
}

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
  /** The lower quantile, in [0, 0.5]; the upper one is 1 less this. Default 0.05 */
  readonly quantile?: number;
  /** The least that returns are divided by, above 0. Default 1 */
  readonly least?: number;
}

/**
 * DreamerV3's normaliser of returns (Hafner et al. 2023, arXiv v2, eq. 7): exponential means of the 5th and 95th
 * percentile, and scale = max(1, high - low), by which advantages are divided. The means begin at 0 and aren't
 * corrected for it.
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
  const place = q * (x.size - 1);
  const below = Math.floor(place);
  const count = Math.min(x.size, below + 2);
  const { values } = tf.topk(tf.neg(tf.reshape(x, [-1])), count, true); // [count]
  const least = (i: number) => tf.reshape(tf.slice(values, [Math.min(i, count - 1)], [1]), []);
  const share = place - below;
  return tf.neg(tf.add(tf.mul(least(below), 1 - share), tf.mul(least(below + 1), share))) as tf.Scalar;
}
