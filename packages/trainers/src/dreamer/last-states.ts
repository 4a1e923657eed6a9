import { fail } from '@coplay/core';
import type { RssmSequence, RssmState } from '@coplay/models';
import { checkTensor, tf } from '@coplay/tensor';

/**
 * The last K states of each sequence as rows: where imagination begins.
 *
 * @param states [B, T, ...]
 * @param count  K in 1..T
 * @returns [B K, ...], a sequence's steps one after the other
 */
export function lastStates(states: Pick<RssmSequence, 'deter' | 'stoch'>, count: number): RssmState {
  checkTensor('lastStates', 'states.deter', states?.deter);
  checkTensor('lastStates', 'states.stoch', states.stoch);
  const [rows, steps, deter] = states.deter.shape;
  const [, , stoch, classes] = states.stoch.shape;
  if (!Number.isInteger(count) || count < 1 || count > steps) {
    fail('lastStates', `a count in 1..${steps}, the steps there are`, String(count), 'Take fewer.');
  }
  const first = steps - count;
  return {
    deter: tf.reshape(tf.slice(states.deter, [0, first, 0], [rows, count, deter]), [rows * count, deter]),
    stoch: tf.reshape(tf.slice(states.stoch, [0, first, 0, 0], [rows, count, stoch, classes]), [
      rows * count,
      stoch,
      classes,
    ]),
  };
}
