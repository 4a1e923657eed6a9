import { checkNumber, checkShapes, fail, show } from '@coplay/core';
import { checkTensor, tf } from '@coplay/tensor';

/** A stretch of T steps, [N, T] each. Rewards and flags of index t were met on arriving at state t. */
export interface ReturnTerms {
  readonly rewards: tf.Tensor2D;
  /** Discounts: 0 where an episode ended in state t. */
  readonly discounts: tf.Tensor2D;
  /** lambda, or 0 where the stretch breaks off after state t though play could have gone on. */
  readonly traces: tf.Tensor2D | number;
  /** Values, used for what lies beyond. */
  readonly values: tf.Tensor2D;
}

/**
 * Lambda-returns with rewards on arrival (Hafner et al. 2023, eq. 7, in the indices of DreamerV3's code), for t =
 * 0..T-2 and with R_(T-1) = v_(T-1):
 *
 *   R_t = r_(t+1) + d_(t+1) ((1 - l_(t+1)) v_(t+1) + l_(t+1) R_(t+1))
 *
 * @returns [N, T - 1]
 */
export function arrivalReturns(terms: ReturnTerms): tf.Tensor2D {
  checkTerms('arrivalReturns', terms);
  const { rewards, discounts, traces, values } = terms;
  checkShapes('arrivalReturns', { rewards, discounts, values }, 'N T');
  if (typeof traces === 'number') checkNumber('arrivalReturns', 'traces', traces, { min: 0, max: 1 });
  else checkShapes('arrivalReturns', { rewards, traces }, 'N T');
  const near = tf.add(rewards, tf.mul(tf.mul(discounts, tf.sub(1, traces)), values));
  const nears = tf.unstack(near, 1);
  const fars = tf.unstack(tf.mul(discounts, traces), 1);
  const returns: tf.Tensor[] = [];
  let next = tf.unstack(values, 1).at(-1)!;
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

/** What {@link replayReturns} reads, [B, K] each. */
export interface ReplayTerms {
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
 */
export function replayReturns(terms: ReplayTerms, discount: number, lambda: number): tf.Tensor2D {
  checkTerms('replayReturns', terms);
  checkNumber('replayReturns', 'discount', discount, { min: 0, max: 1 });
  checkNumber('replayReturns', 'lambda', lambda, { min: 0, max: 1 });
  const { rewards, isTerminal, isLast, imagined } = terms;
  checkShapes('replayReturns', { rewards, isTerminal, isLast, imagined }, 'B K');
  const discounts = tf.mul(tf.sub(1, isTerminal), discount) as tf.Tensor2D;
  const traces = tf.mul(tf.sub(1, isLast), lambda) as tf.Tensor2D;
  return arrivalReturns({ rewards, discounts, traces, values: imagined });
}

/** Refuses a value that isn't a record, before its parts are checked. */
export function checkTerms(where: string, terms: unknown): void {
  const isRecord = typeof terms === 'object' && terms !== null && !Array.isArray(terms) && !(terms instanceof Promise);
  if (isRecord) return;
  fail(`${where}: terms`, 'a record of tensors', show(terms), 'Give the terms by name.');
}
