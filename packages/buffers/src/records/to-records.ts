import { type Experience, fail } from '@coplay/core';
import { allocateExperience, copyObservation, copyRow, isLastStep, sizeOf } from '@coplay/core/arrays';
import { checkExperience } from '@coplay/core/checks';
import { allocateExtras } from '../episodes/fields';
import type { Records } from './records';

/**
 * Episodes as records. Each environment's row holds one episode, or a piece of one: give what `splitEpisodes` or an
 * episode collector returned.
 *
 * The observation of a row's last record comes from `experience.cuts`; without a cut there it's zeros.
 *
 * @throws CoplayError where an episode ends within a row
 */
export function toRecords(experience: Experience): Records {
  checkExperience('toRecords', experience);
  const { agents, observation, actionCount, envs, steps } = experience;
  const R = steps + 1;
  const spec = { agents, observation, actions: actionCount };
  const { observations, masks, actions, previousActions, rewards, active, isFirst } = allocateExperience(spec, envs, R);
  const records: Records = {
    ...{ agents, observation, envs, records: R, actionCount },
    ...{ observations, masks, actions, previousActions, rewards, active, isFirst },
    isLast: new Uint8Array(active.length),
    isTerminal: new Uint8Array(active.length),
    lengths: experience.lengths.map((length) => length + 1),
    isImagined: experience.isImagined.slice(),
    extras: allocateExtras(experience.extras, envs, R),
  };
  for (let env = 0; env < envs; env++) {
    for (let t = 0; t < experience.lengths[env]; t++) {
      writeSeen(experience, env, t, records);
      writeArrival(experience, env, t, records);
    }
  }
  writeLastSeen(experience, records);
  return records;
}

/** Record t: the observations before step t, and the actions. */
function writeSeen(experience: Experience, env: number, t: number, records: Records): void {
  const { agents, observation, actionCount, steps } = experience;
  const isLast = t === experience.lengths[env] - 1;
  const step = env * steps + t;
  if (!isLast && isLastStep(experience, step)) {
    const got = `an end after step ${t} of ${experience.lengths[env]} in environment ${env}`;
    fail('toRecords', 'one episode in each row', got, 'Give splitEpisodes(experience).');
  }
  records.isFirst[env * records.records + t] = experience.isFirst[step];
  for (let agent = 0; agent < agents.length; agent++) {
    const from = step * agents.length + agent;
    const to = (env * records.records + t) * agents.length + agent;
    copyObservation(observation, experience.observations, from, records.observations, to);
    copyRow(experience.masks, from, records.masks, to, actionCount);
    records.previousActions[to] = experience.previousActions[from];
    for (const [name, { data, shape }] of Object.entries(experience.extras)) {
      copyRow(data, from, records.extras[name].data, to, sizeOf(shape.slice(3)));
    }
    if (experience.active[from] === 0) continue;
    records.active[to] = 1;
    records.actions[to] = experience.actions[from];
  }
}

/** Record t + 1: what step t led to. */
function writeArrival(experience: Experience, env: number, t: number, records: Records): void {
  const count = experience.agents.length;
  for (let agent = 0; agent < count; agent++) {
    const from = (env * experience.steps + t) * count + agent;
    const to = (env * records.records + t + 1) * count + agent;
    if (experience.active[from] === 0) continue;
    records.active[to] = 1;
    records.rewards[to] = experience.rewards[from];
    records.previousActions[to] = experience.actions[from];
    records.isTerminal[to] = experience.terminated[from];
    records.isLast[to] = experience.terminated[from] | experience.truncated[from];
  }
}

/** The observations after the last step of each row, where they were kept. */
function writeLastSeen(experience: Experience, records: Records): void {
  const { agents, observation, actionCount, cuts } = experience;
  cuts.env.forEach((env, n) => {
    if (cuts.step[n] !== experience.lengths[env] - 1) return;
    for (let agent = 0; agent < agents.length; agent++) {
      const from = n * agents.length + agent;
      const to = (env * records.records + cuts.step[n] + 1) * agents.length + agent;
      copyObservation(observation, cuts.observations, from, records.observations, to);
      copyRow(cuts.masks, from, records.masks, to, actionCount);
    }
  });
}
