import { type Game, type NamedArrays, ndarray } from '@coplay/core';
import type { WorldModel } from '@coplay/models';
import { type TensorRecord, tf, zeros } from '@coplay/tensor';
import { argmaxRows, maskedLogProbs } from '@coplay/tensor/distributions';

/**
 * A world model that a user might write: of a matrix game of two players, each with K actions. The next state is the
 * joint action, which it learns as a categorical over K * K, and what it pays, as a table; both are linear in one-hots
 * of the joint action.
 */
export function matrixWorldModel(game: Game): WorldModel {
  const K = game.actions;
  const joint = (actions: tf.Tensor) => {
    const [first, second] = tf.split(tf.cast(actions, 'float32'), 2, 1);
    const number = tf.add(tf.mul(first, K), second); // [B, 1]
    return tf.cast(tf.equal(number, tf.range(0, K * K)), 'float32') as tf.Tensor2D;
  };
  const logits = (params: TensorRecord, rows: TensorRecord) =>
    tf.matMul(joint(rows['actions']), params['next'] as tf.Tensor2D);
  const pay = (params: TensorRecord, rows: TensorRecord) =>
    tf.matMul(joint(rows['actions']), params['pay'] as tf.Tensor2D);
  return {
    kind: 'matrix',
    config: { kind: 'matrix' },
    game,
    data: 'observations',
    init: () => ({ next: zeros([K * K, K * K]), pay: zeros([K * K, 2]) }),
    imagine: (params, rows) => ({ next: tf.softmax(logits(params, rows)), pay: pay(params, rows) }),
    loss: (params, rows) => {
      const seen = tf.slice(rows['next/joint'], [0, 0, 0], [-1, 1, K * K]); // as the first player sees it
      const all = logits(params, rows);
      const logProbs = maskedLogProbs(all, tf.onesLike(all));
      const surprise = tf.neg(tf.mean(tf.sum(tf.mul(logProbs, tf.squeeze(seen, [1])), -1)));
      const error = tf.mean(tf.square(tf.sub(pay(params, rows), rows['rewards'])));
      return {
        loss: tf.add(surprise, error) as tf.Scalar,
        metrics: { joint_loss: surprise, reward_loss: error },
      };
    },
    encode: (_states, actions) => ({ actions: ndarray(actions, [actions.length / 2, 2]) }),
    decode: (imagined) => decode(imagined, K),
    write: (happened, row, states, offset) => {
      const seen = happened['next/joint'].data.subarray(row * 2 * (K * K + 1), row * 2 * (K * K + 1) + K * K);
      states[offset]++; // steps
      states[offset + 1] = 1 + seen.indexOf(1); // see matrixGame: 1 + the last joint action
    },
  };
}

function decode({ next, pay }: NamedArrays, K: number): NamedArrays {
  const count = next.shape[0];
  const best = argmaxRows(next.data as Float32Array, count, K * K);
  const seen = new Uint8Array(count * 2 * (K * K + 1));
  best.forEach((number, row) => {
    const [first, second] = [Math.floor(number / K), number % K];
    seen[row * 2 * (K * K + 1) + number] = 1;
    seen[(row * 2 + 1) * (K * K + 1) + second * K + first] = 1; // the other player's side
  });
  return {
    'next/joint': ndarray(seen, [count, 2, K * K + 1]),
    rewards: pay,
    terminated: ndarray(new Uint8Array(count * 2), [count, 2]),
  };
}
