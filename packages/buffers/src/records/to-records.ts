import { type ActionSpaces, type Experience, fail } from '@coplay/core';
import { actionLayout, allocateExperience, copyObservation, copyRow, isLastStep, sizeOf } from '@coplay/core/arrays';
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
export function toRecords<Spaces extends ActionSpaces>(experience: Experience<Spaces>): Records<Spaces>;
export function toRecords(experience: Experience<ActionSpaces>): Records<ActionSpaces> {
  checkExperience('toRecords', experience, 'experience', 'any');
  const { agents, observation, actionCount, actionSpaces, envs, steps } = experience;
  const R = steps + 1;
  const spec = { agents, observation, actions: actionSpaces ?? actionCount };
  const { observations, masks, actions, previousActions, rewards, active, isFirst } = allocateExperience(spec, envs, R);
  const records: Records<ActionSpaces> = {
    ...{ agents, observation, envs, records: R, actionCount },
    ...(actionSpaces && { actionSpaces }),
    ...{ observations, masks, actions, previousActions, rewards, active, isFirst },
    isLast: new Uint8Array(active.length),
    isTerminal: new Uint8Array(active.length),
    lengths: experience.lengths.map((length) => length + 1),
    isImagined: experience.isImagined.slice(),
    extras: allocateExtras(experience.extras, envs, R),
  };
  const { width } = actionLayout(spec);
  for (let env = 0; env < envs; env++) {
    for (let t = 0; t < experience.lengths[env]; t++) {
      writeSeen(experience, env, t, records, width);
      writeArrival(experience, env, t, records, width);
    }
  }
  writeLastSeen(experience, records);
  return records;
}

/** Record t: the observations before step t, and the actions. */
function writeSeen(
  experience: Experience<ActionSpaces>,
  env: number,
  t: number,
  records: Records<ActionSpaces>,
  width: number,
): void {
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
    copyRow(experience.previousActions, from, records.previousActions, to, width);
    for (const [name, { data, shape }] of Object.entries(experience.extras)) {
      copyRow(data, from, records.extras[name].data, to, sizeOf(shape.slice(3)));
    }
    if (experience.active[from] === 0) continue;
    records.active[to] = 1;
    copyRow(experience.actions, from, records.actions, to, width);
  }
}

/** Record t + 1: what step t led to. */
function writeArrival(
  experience: Experience<ActionSpaces>,
  env: number,
  t: number,
  records: Records<ActionSpaces>,
  width: number,
): void {
  const count = experience.agents.length;
  for (let agent = 0; agent < count; agent++) {
    const from = (env * experience.steps + t) * count + agent;
    const to = (env * records.records + t + 1) * count + agent;
    if (experience.active[from] === 0) continue;
    records.active[to] = 1;
    records.rewards[to] = experience.rewards[from];
    copyRow(experience.actions, from, records.previousActions, to, width);
    records.isTerminal[to] = experience.terminated[from];
    records.isLast[to] = experience.terminated[from] | experience.truncated[from];
  }
}

/** The observations after the last step of each row, where they were kept. */
function writeLastSeen(experience: Experience<ActionSpaces>, records: Records<ActionSpaces>): void {
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
