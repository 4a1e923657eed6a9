/*
 * Imagination: trajectories from posterior states, with the prior of the world model and the actor. Shapes: N start
 * states, H imagined steps, A numbers of an action's code, M co-players with K actions each, F features.
 */
import { checkShapes, fail } from '@coplay/core';
import { checkRecord } from '@coplay/core/checks';
import type { DreamerNets, RssmSequence, RssmState } from '@coplay/models/dreamer';
import { checkTensor, stopGradient, type TensorRecord, tf } from '@coplay/tensor';

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

/** Random numbers of an imagined rollout of H steps from N states. */
export interface ImaginationNoise {
  /** [H, N, S] uniform in [0, 1) */
  readonly latents: tf.Tensor3D;
  /** [H + 1, N, a] as `actor.noise` says: uniform, a = 1, or standard normal, a = A */
  readonly actions: tf.Tensor3D;
  /** [H, N, M] uniform, where co-players are modelled */
  readonly coPlayers?: tf.Tensor3D;
}

/** N imagined rollouts. Index t of an action, a value or a log-probability belongs to the state before that action. */
export interface ImaginedSequence {
  /** [N, H + 1, F]; index 0 is the state it began with */
  readonly features: tf.Tensor3D;
  /** [N, H + 1, A] codes of the actions, also of one in the last state */
  readonly actions: tf.Tensor3D;
  /** [N, H, M K] codes of what co-players were imagined to do, where they are modelled */
  readonly coPlayers?: tf.Tensor3D;
}

/**
 * Imagines H steps with the world model's prior and the actor (Hafner et al. 2023, arXiv v2, eq. 1 and 4). No
 * gradient flows through the result: it trains neither the world model nor, by itself, the actor. Where co-players are
 * modelled, their actions are drawn from their model in every state, together with the agent's own: all move at once.
 *
 * @param active [N, M] 1 for co-players who act in the first state; default: all
 * @throws CoplayError for noise or `active` of other shapes
 */
export function imagineSequence(
  nets: DreamerNets,
  params: TensorRecord,
  start: RssmState,
  noise: ImaginationNoise,
  active?: tf.Tensor2D,
): ImaginedSequence {
  const horizon = checkNoise(nets, start, noise, active);
  const { dyn, pol, moa } = nets.parts(detached(params));
  const others = imaginedCoPlayers(nets, moa, noise, active);
  // With co-players there would be an entry for each joint action.
  const table = nets.actor.actions.kind === 'discrete' && !nets.coPlayers ? nets.rssm.actionTable(dyn) : undefined;
  const latents = tf.unstack(noise.latents) as tf.Tensor2D[]; // H of [N, S]
  const draws = tf.unstack(noise.actions) as tf.Tensor2D[]; // H + 1 of [N, a]
  const features: tf.Tensor[] = [];
  const actions: tf.Tensor[] = [];
  let state: RssmState = { deter: stopGradient(start.deter), stoch: stopGradient(start.stoch) };
  for (let t = 0; t <= horizon; t++) {
    const seen = nets.rssm.features(state); // [N, F]
    const action = nets.actor.sample(nets.actor.distribution(pol, seen), draws[t]); // [N, A]
    features.push(seen);
    actions.push(action);
    if (t < horizon) state = nets.rssm.imagine(dyn, state, others.join(action, seen), latents[t], table);
  }
  return {
    features: tf.stack(features, 1) as tf.Tensor3D,
    actions: tf.stack(actions, 1) as tf.Tensor3D,
    ...(others.codes.length > 0 && { coPlayers: tf.stack([...others.codes], 1) as tf.Tensor3D }),
  };
}

/** Refuses noise that doesn't fit the networks and the start states; returns H. */
function checkNoise(nets: DreamerNets, start: RssmState, noise: ImaginationNoise, active?: tf.Tensor2D): number {
  const where = 'imagineSequence';
  const { latents, actions, coPlayers } = noise;
  const [N] = start.deter.shape;
  checkShapes(where, { 'noise.latents': latents }, `H ${N} ${nets.sizes.stoch}`);
  const [H] = latents.shape;
  if (actions.shape[0] !== H + 1) {
    const remedy = 'An action is drawn in the last state, too.';
    fail(where, `noise.actions for ${H + 1} states`, String(actions.shape[0]), remedy);
  }
  checkShapes(where, { 'noise.actions': actions }, `${H + 1} ${N} ${nets.actor.noise.size}`);
  if (!nets.coPlayers) return H;
  const M = nets.coPlayers.count;
  if (!coPlayers) fail(where, `noise.coPlayers [${H}, ${N}, ${M}]`, 'none', 'Co-players act in every state.');
  checkShapes(where, { 'noise.coPlayers': coPlayers as tf.Tensor3D }, `${H} ${N} ${M}`);
  if (active) checkShapes(where, { active }, `${N} ${M}`);
  return H;
}

/** What co-players do, step by step; nothing where they aren't modelled. */
function imaginedCoPlayers(nets: DreamerNets, moa: TensorRecord, noise: ImaginationNoise, active?: tf.Tensor2D) {
  const codes: tf.Tensor2D[] = [];
  const model = nets.coPlayers;
  if (!model) return { codes, join: (own: tf.Tensor2D) => own };
  const draws = tf.unstack(noise.coPlayers as tf.Tensor3D) as tf.Tensor2D[]; // H of [N, M]
  let present = active ?? (tf.onesLike(draws[0]) as tf.Tensor2D);
  const join = (own: tf.Tensor2D, features: tf.Tensor2D): tf.Tensor2D => {
    const step = model.sample(model.logProbs(moa, features), present, draws[codes.length]);
    codes.push(step.codes);
    present = step.active;
    return tf.concat([own, step.codes], 1) as tf.Tensor2D;
  };
  return { codes, join };
}

/** The same values without gradients: an imagination with them doesn't train the world model. */
export function detached(params: TensorRecord): TensorRecord {
  checkRecord('detached', 'params', params);
  for (const name in params) checkTensor('detached', name, params[name]);
  return Object.fromEntries(Object.entries(params).map(([name, tensor]) => [name, stopGradient(tensor)]));
}
