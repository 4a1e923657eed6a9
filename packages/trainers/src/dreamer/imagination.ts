import { fail } from '@coplay/core';
import type { DreamerNets, RssmState } from '@coplay/models';
import { checkTensor, stopGradient, type TensorRecord, tf } from '@coplay/tensor';
import { checkTerms } from './returns';

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
 * Imagines H steps with the world model's prior and the actor (Hafner et al. 2023, "actor critic learning"). No
 * gradient flows through what comes out: it teaches neither the world model nor, by itself, the actor. Where co-players
 * are modelled, their actions are drawn from their model in every state, together with the agent's own: all move at
 * once.
 *
 * @param active [N, M] 1 for co-players who act in the first state; default: all
 */
export function imagineSequence(
  nets: DreamerNets,
  params: TensorRecord,
  start: RssmState,
  noise: ImaginationNoise,
  active?: tf.Tensor2D,
): ImaginedSequence {
  const horizon = noise.latents.shape[0];
  if (noise.actions.shape[0] !== horizon + 1) {
    const remedy = 'An action is drawn in the last state, too.';
    fail('imagineSequence', `noise.actions for ${horizon + 1} states`, String(noise.actions.shape[0]), remedy);
  }
  const { dyn, pol, moa } = nets.parts(detached(params));
  const others = imaginedCoPlayers(nets, moa, noise, active);
  // With co-players there would be an entry for each joint action.
  const table = nets.actor.actions.kind === 'discrete' && !nets.coPlayers ? nets.rssm.actionTable(dyn) : undefined;
  const latents = tf.unstack(noise.latents) as tf.Tensor2D[];
  const draws = tf.unstack(noise.actions) as tf.Tensor2D[];
  const features: tf.Tensor[] = [];
  const actions: tf.Tensor[] = [];
  let state: RssmState = { deter: stopGradient(start.deter), stoch: stopGradient(start.stoch) };
  for (let t = 0; t <= horizon; t++) {
    const seen = nets.rssm.features(state);
    const action = nets.actor.sample(nets.actor.distribution(pol, seen), draws[t]);
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

/** What co-players do, step by step; nothing where they aren't modelled. */
function imaginedCoPlayers(nets: DreamerNets, moa: TensorRecord, noise: ImaginationNoise, active?: tf.Tensor2D) {
  const codes: tf.Tensor2D[] = [];
  const model = nets.coPlayers;
  if (!model) return { codes, join: (own: tf.Tensor2D) => own };
  const remedy = 'What co-players do is drawn in every state.';
  if (!noise.coPlayers) return fail('imagineSequence', 'noise.coPlayers [H, N, M]', 'none', remedy);
  const draws = tf.unstack(noise.coPlayers) as tf.Tensor2D[];
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
  checkTerms('detached', params);
  for (const name in params) checkTensor('detached', name, params[name]);
  return Object.fromEntries(Object.entries(params).map(([name, tensor]) => [name, stopGradient(tensor)]));
}
