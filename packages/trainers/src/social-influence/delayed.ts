import { copyRow, type Experience, type ObservationArrays, sizeOf } from '@coplay/core';

/** A rollout for models of what comes next, and what the rollout after it needs. */
export interface Delayed {
  readonly experience: Experience;
  /** [E, A, ...] what was seen in the last step */
  readonly last: ObservationArrays;
}

/**
 * The same rollout with each step's observations replaced by those of the step before, and with every action legal: beside them stand everyone's
 * previous actions, so that a model learns p(a_t+1 | s_t, a_t), out of which counterfactual actions can be asked. What is seen after them would
 * give the real one away, and so would what is legal then. First steps of episodes stay as they are.
 *
 * @param before  [E, A, ...] what was seen in the last step of the rollout before; undefined at the beginning
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
