import { copyRow, type Experience, type ObservationArrays, sizeOf } from '@coplay/core';

/** A rollout for models of the next step, and the part that the following rollout needs. */
export interface Delayed {
  readonly experience: Experience;
  /** [E, A, ...] the observations in the last step */
  readonly last: ObservationArrays;
}

/**
 * The same rollout with each step's observations replaced by those of the step before, and with every action legal:
 * together with the previous actions of all agents, a model learns p(a_t+1 | s_t, a_t) from it, which can be evaluated
 * on counterfactual actions. The next observation would reveal the real action, and so would the next mask. First steps
 * of episodes stay as they are.
 *
 * @param before  [E, A, ...] the observations in the last step of the previous rollout; undefined at the beginning
 */
export function delayed(experience: Experience, before: ObservationArrays | undefined): Delayed {
  const { envs, steps, agents, observation, isFirst, masks } = experience;
  const observations: ObservationArrays = {};
  const last: ObservationArrays = {};
  for (const [name, { shape }] of Object.entries(observation)) {
    const seen = experience.observations[name];
    const size = agents.length * sizeOf(shape);
    const shifted = seen.slice();
    const kept = seen.slice(0, envs * size);
    for (let e = 0; e < envs; e++) {
      copyRow(seen, (e + 1) * steps - 1, kept, e, size);
      if (before && isFirst[e * steps] === 0) copyRow(before[name], e, shifted, e * steps, size);
      for (let step = e * steps + 1; step < (e + 1) * steps; step++) {
        if (isFirst[step] === 0) copyRow(seen, step - 1, shifted, step, size);
      }
    }
    observations[name] = shifted;
    last[name] = kept;
  }
  return { experience: { ...experience, observations, masks: new Uint8Array(masks.length).fill(1) }, last };
}
