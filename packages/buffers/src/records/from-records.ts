import { type ActionSpaces, type Experience, type ExperienceSpec, fail, show } from '@coplay/core';
import {
  actionLayout,
  allocateCuts,
  allocateExperience,
  type Cuts,
  copyObservation,
  copyRow,
  sizeOf,
} from '@coplay/core/arrays';
import { checkArgument, checkExperienceSpec, checkTypedArray, namedArrays, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import { allocateExtras } from '../episodes/fields';
import type { Records } from './records';

const bytes = typedArrays('uint8');
const schema = z.looseObject({
  agents: z.array(z.string()),
  observation: z.record(z.string(), z.looseObject({ shape: z.array(z.int().min(0)), dtype: z.string() })),
  envs: z.int().min(0),
  records: z.int().min(1),
  actionCount: z.int().min(0),
  observations: z.record(z.string(), typedArrays()),
  masks: bytes,
  actions: typedArrays('int32', 'float32'),
  previousActions: typedArrays('int32', 'float32'),
  rewards: typedArrays('float32'),
  active: bytes,
  isFirst: bytes,
  isLast: bytes,
  isTerminal: bytes,
  lengths: typedArrays('int32'),
  isImagined: bytes,
  extras: namedArrays,
});

/** Whose observations and actions records are of. */
function specOf({
  agents,
  observation,
  actionCount,
  actionSpaces,
}: Records<ActionSpaces>): ExperienceSpec<ActionSpaces> {
  return { agents, observation, actions: actionSpaces ?? actionCount };
}

function checkRecords(records: Records<ActionSpaces>): void {
  checkArgument('fromRecords', 'records', schema, records);
  const { agents, observation, envs, records: count, actionCount } = records;
  checkExperienceSpec('fromRecords: records', specOf(records), 'any');
  const { width, maskSize, dtype } = actionLayout(specOf(records));
  if (actionCount !== maskSize) {
    fail('fromRecords: records.actionCount', `${maskSize}`, show(actionCount), 'Give the arrays of one toRecords().');
  }
  const rows = envs * count * agents.length;
  const check = (path: string, values: ArrayLike<number> | undefined, length: number) => {
    if (values?.length === length) return;
    const expected = `${length} values for ${envs} environments and ${count} records`;
    fail(`fromRecords: records.${path}`, expected, show(values), 'Give the arrays of one toRecords().');
  };
  for (const name of ['actions', 'previousActions'] as const) {
    checkTypedArray('fromRecords', `records.${name}`, records[name], dtype, rows * width);
  }
  for (const name of ['rewards', 'active', 'isLast', 'isTerminal'] as const) check(name, records[name], rows);
  check('masks', records.masks, rows * actionCount);
  check('isFirst', records.isFirst, envs * count);
  check('lengths', records.lengths, envs);
  check('isImagined', records.isImagined, envs);
  for (const [name, { shape }] of Object.entries(observation)) {
    check(`observations.${name}`, records.observations[name], rows * sizeOf(shape));
  }
}

/**
 * Records as experience: the opposite of `toRecords`. Steps have a row for each record but the last, which
 * becomes a cut.
 */
export function fromRecords<Spaces extends ActionSpaces>(records: Records<Spaces>): Experience<Spaces>;
export function fromRecords(records: Records<ActionSpaces>): Experience<ActionSpaces> {
  checkRecords(records);
  const { envs, records: R } = records;
  const spec = specOf(records);
  const steps = R - 1;
  const experience: Experience<ActionSpaces> = {
    ...allocateExperience(spec, envs, steps),
    lengths: records.lengths.map((length) => length - 1),
    isImagined: records.isImagined.slice(),
    extras: allocateExtras(records.extras, envs, steps),
  };
  const { width } = actionLayout(spec);
  const cutEnvs: number[] = [];
  for (let env = 0; env < envs; env++) {
    for (let t = 0; t < experience.lengths[env]; t++) writeStep(records, env, t, experience, width);
    if (experience.lengths[env] > 0) cutEnvs.push(env);
  }
  return { ...experience, cuts: lastSeen(records, cutEnvs) };
}

function writeStep(
  records: Records<ActionSpaces>,
  env: number,
  t: number,
  experience: Experience<ActionSpaces>,
  width: number,
): void {
  const { agents, observation, actionCount } = records;
  const step = env * experience.steps + t;
  let playing = 0;
  experience.isFirst[step] = records.isFirst[env * records.records + t];
  for (let agent = 0; agent < agents.length; agent++) {
    const to = step * agents.length + agent;
    const from = (env * records.records + t) * agents.length + agent;
    const next = from + agents.length;
    copyObservation(observation, records.observations, from, experience.observations, to);
    copyRow(records.masks, from, experience.masks, to, actionCount);
    copyRow(records.previousActions, from, experience.previousActions, to, width);
    for (const [name, { data, shape }] of Object.entries(records.extras)) {
      copyRow(data, from, experience.extras[name].data, to, sizeOf(shape.slice(3)));
    }
    experience.terminated[to] = t > 0 && experience.terminated[to - agents.length] === 1 ? 1 : records.isTerminal[next];
    if (records.active[from] === 0 || records.isLast[from] === 1) continue;
    experience.active[to] = 1;
    copyRow(records.actions, from, experience.actions, to, width);
    experience.rewards[to] = records.rewards[next];
    experience.truncated[to] = records.isLast[next] & ~records.isTerminal[next];
    if (records.isLast[next] === 0) playing++;
  }
  experience.ended[step] = playing === 0 ? 1 : 0;
}

/** The last record of each of these rows. */
function lastSeen(records: Records<ActionSpaces>, envs: readonly number[]): Cuts<ActionSpaces> {
  const { agents, observation, actionCount } = records;
  const spec = specOf(records);
  const { width } = actionLayout(spec);
  const cuts = allocateCuts(spec, envs.length);
  envs.forEach((env, n) => {
    cuts.env[n] = env;
    cuts.step[n] = records.lengths[env] - 2;
    for (let agent = 0; agent < agents.length; agent++) {
      const from = (env * records.records + records.lengths[env] - 1) * agents.length + agent;
      const to = n * agents.length + agent;
      copyObservation(observation, records.observations, from, cuts.observations, to);
      copyRow(records.masks, from, cuts.masks, to, actionCount);
      copyRow(records.previousActions, from, cuts.previousActions, to, width);
    }
  });
  return cuts;
}
