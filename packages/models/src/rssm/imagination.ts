import { fail } from '@coplay/core';
import { stopGradient, type TensorRecord, tf } from '@coplay/tensor';
import { type DreamerNets, detached } from './nets';
import type { RssmState } from './rssm';

/** Random numbers of an imagined rollout of H steps from N states. */
export interface ImaginationNoise {
  /** [H, N, S] uniform in [0, 1) */
  readonly latents: tf.Tensor3D;
  /** [H + 1, N, a] as `actor.noise` says: uniform, a = 1, or standard normal, a = A */
  readonly actions: tf.Tensor3D;
}

/** N imagined rollouts. Index t of an action, a value or a log-probability belongs to the state before that action. */
export interface ImaginedSequence {
  /** [N, H + 1, F]; index 0 is the state it began with */
  readonly features: tf.Tensor3D;
  /** [N, H + 1, A] codes of the actions, also of one in the last state */
  readonly actions: tf.Tensor3D;
}

/**
 * Imagines H steps with the world model's prior and the actor (Hafner et al. 2023, "actor critic learning"). No gradient flows through what comes
 * out: it teaches neither the world model nor, by itself, the actor.
 */
export function imagineSequence(
  nets: DreamerNets,
  params: TensorRecord,
  start: RssmState,
  noise: ImaginationNoise,
): ImaginedSequence {
  const horizon = noise.latents.shape[0];
  if (noise.actions.shape[0] !== horizon + 1) {
    const remedy = 'An action is drawn in the last state, too.';
    fail('imagineSequence', `noise.actions for ${horizon + 1} states`, String(noise.actions.shape[0]), remedy);
  }
  const { dyn, pol } = nets.parts(detached(params));
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
    if (t < horizon) state = nets.rssm.imagine(dyn, state, action, latents[t]);
  }
  return { features: tf.stack(features, 1) as tf.Tensor3D, actions: tf.stack(actions, 1) as tf.Tensor3D };
}
