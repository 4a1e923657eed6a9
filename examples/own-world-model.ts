/**
 * A model of the world of your own: `npx tsx --conditions=@coplay/source examples/own-world-model.ts`
 *
 * `cellsWorldModel` is for games on a grid. This one is for matrix games, whose state is the previous actions of both:
 * it learns the next state and the rewards of a round. It plugs in wherever ours does: into the learner, and through it
 * into imagination.
 */
import { allocate, createGenerator, createRollout, type Game, ndarray, vectorEnv } from '@coplay/core';
import { matrixGame, randomAgent } from '@coplay/envs';
import type { WorldModel } from '@coplay/models';
import { type TensorRecord, tf, zeros } from '@coplay/tensor';
import { argmaxRows } from '@coplay/tensor/distributions';
import { createWorldModel } from '@coplay/trainers';

/**
 * For two players with K actions. Rows are of the kind `observations`: what everyone saw before and after, actions,
 * rewards.
 */
function matrixModel(game: Game): WorldModel {
  const K = game.actions;
  const rounds = K * K;
  /** [B, K * K] one-hot of what both do */
  const played = (rows: TensorRecord) => {
    const [first, second] = tf.split(tf.cast(rows['actions'], 'float32'), 2, 1);
    return tf.cast(tf.equal(tf.add(tf.mul(first, K), second), tf.range(0, rounds)), 'float32') as tf.Tensor2D;
  };
  const logits = (params: TensorRecord, rows: TensorRecord) => tf.matMul(played(rows), params['next'] as tf.Tensor2D);
  const pay = (params: TensorRecord, rows: TensorRecord) => tf.matMul(played(rows), params['pay'] as tf.Tensor2D);
  return {
    kind: 'matrix',
    config: { kind: 'matrix' },
    game,
    data: 'observations',
    init: () => ({ next: zeros([rounds, rounds]), pay: zeros([rounds, 2]) }),

    // Functions of tensors, which are compiled.
    imagine: (params, rows) => ({ next: tf.softmax(logits(params, rows)), pay: pay(params, rows) }),
    loss: (params, rows) => {
      const seen = tf.squeeze(tf.slice(rows['next/joint'], [0, 0, 0], [-1, 1, rounds]), [1]); // by the first player
      const next_loss = tf.neg(tf.mean(tf.sum(tf.mul(tf.logSoftmax(logits(params, rows)), seen), -1)));
      const reward_loss = tf.mean(tf.square(tf.sub(pay(params, rows), rows['rewards'])));
      return { loss: tf.add(next_loss, reward_loss) as tf.Scalar, metrics: { next_loss, reward_loss } };
    },

    // Functions of arrays, which join the model to the game.
    encode: (_states, actions) => ({ actions: ndarray(actions, [actions.length / 2, 2]) }),
    decode: (imagined) => {
      const count = imagined['next'].shape[0];
      const joint = new Uint8Array(count * 2 * (rounds + 1));
      argmaxRows(imagined['next'].data as Float32Array, count, rounds).forEach((round, row) => {
        joint[row * 2 * (rounds + 1) + round] = 1;
        joint[(row * 2 + 1) * (rounds + 1) + (round % K) * K + Math.floor(round / K)] = 1; // the other one's side
      });
      const terminated = ndarray(new Uint8Array(count * 2), [count, 2]);
      return { 'next/joint': ndarray(joint, [count, 2, rounds + 1]), rewards: imagined['pay'], terminated };
    },
    write: (happened, row, states, offset) => {
      const start = row * 2 * (rounds + 1);
      states[offset]++; // rounds played
      states[offset + 1] = 1 + happened['next/joint'].data.subarray(start, start + rounds).indexOf(1); // the last one
    },
  };
}

const game = matrixGame({ kind: 'prisoners-dilemma' });
const generator = createGenerator(1);
const model = createWorldModel({ game, model: matrixModel, batchSize: 64, learningRate: 0.05 });
await model.initialise(generator.split(0));

const agents = game.agents.map((id) => randomAgent({ game, id }));
const rollout = createRollout(vectorEnv(game, { envs: 8, seed: 1 }), agents, generator.split(1));
for (let update = 1; update <= (process.env['COPLAY_QUICK'] ? 2 : 12); update++) {
  model.push(await rollout.collect(16));
  const metrics = await model.update(generator);
  if (update % 2 === 0) {
    const [loss, error] = [metrics['world_model/loss'], model.rewardError];
    console.log(
      `update ${update}: loss ${loss.toFixed(4)}, exact ${model.accuracy.toFixed(3)}, reward error ${error.toFixed(4)}`,
    );
  }
}

// A round in imagination, for each of the four things that two players can do.
const states = allocate(game.stateType, 4 * game.stateSize);
const result = { rewards: new Float32Array(8), terminated: new Uint8Array(8), truncated: new Uint8Array(8), infos: {} };
await model.simulator().step(states, Int32Array.of(0, 0, 0, 1, 1, 0, 1, 1), generator, result);
for (let row = 0; row < 4; row++) {
  const names = [row >> 1, row & 1].map((action) => game.actionNames[action]).join(' and ');
  console.log(
    `${names}: ${[...result.rewards.subarray(2 * row, 2 * row + 2)].map((reward) => reward.toFixed(2)).join(', ')}`,
  );
}
model.dispose();
