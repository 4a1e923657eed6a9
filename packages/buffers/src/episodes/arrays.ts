import {
  type ActionSpace,
  type ActionSpaces,
  type AgentId,
  type ArrayOf,
  type DType,
  type Experience,
  fail,
  type NamedArrays,
  type ObservationArrays,
  type ObservationSpec,
  show,
  type TypedArray,
} from '@coplay/core';
import { actionLayout, dtypeOf, readSpace, type SavedSpace, saveSpace } from '@coplay/core/arrays';
import { checkArgument, checkExperienceSpec, namedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import { actionShape, stepFields } from './fields';

/** An {@link Experience} as JSON and named arrays, for files and checkpoints. */
export interface ExperienceArrays {
  readonly about: ExperienceAbout;
  /** `rewards` [E, T, A], `observations/grid` [E, T, A, H, W, C], `extras/logProbs`, `cuts/env` [N], ... */
  readonly arrays: NamedArrays;
}

/** The parts that aren't arrays. */
export type ExperienceAbout = {
  readonly format: 'coplay-experience';
  /** 1 for discrete actions, 2 for other spaces */
  readonly version: 1 | 2;
  readonly agents: readonly AgentId[];
  readonly observation: ObservationSpec;
  readonly envs: number;
  readonly steps: number;
  readonly actionCount: number;
  /** [A] of version 2: the space of each agent */
  readonly spaces?: readonly SavedSpace[];
};

const count = z.int().min(0);
const bounds = z.array(z.number().nullable());
const aboutSchema = z.looseObject({
  agents: z.array(z.string()),
  observation: z.record(
    z.string(),
    z.looseObject({
      dtype: z.string(),
      shape: z.array(count),
      kind: z.string().optional(),
      channels: z.array(z.string()).optional(),
    }),
  ),
  envs: count,
  steps: count,
  actionCount: count,
  spaces: z
    .array(
      z.union([
        count,
        z.looseObject({ kind: z.literal('box'), shape: z.array(count), low: bounds, high: bounds }),
        z.looseObject({ kind: z.literal('multi-discrete'), counts: z.array(count) }),
      ]),
    )
    .optional(),
});

/** Takes experience apart. The arrays are the experience's own, not copies. */
export function experienceArrays(experience: Experience<ActionSpaces>): ExperienceArrays {
  const { actionSpaces, agents, observation, envs, steps, actionCount, cuts } = experience;
  const arrays: NamedArrays = {};
  for (const { name, data, of, shape } of stepFields(experience)) {
    arrays[name] = { data, shape: [envs, steps, ...(of === 'step' ? [] : [agents.length]), ...shape] };
  }
  arrays['lengths'] = { data: experience.lengths, shape: [envs] };
  arrays['isImagined'] = { data: experience.isImagined, shape: [envs] };
  const count = cuts.env.length;
  arrays['cuts/env'] = { data: cuts.env, shape: [count] };
  arrays['cuts/step'] = { data: cuts.step, shape: [count] };
  arrays['cuts/masks'] = { data: cuts.masks, shape: [count, agents.length, actionCount] };
  arrays['cuts/previousActions'] = {
    data: cuts.previousActions,
    shape: [count, agents.length, ...actionShape(experience)],
  };
  if (experience.states && cuts.states) arrays['cuts/states'] = cuts.states;
  for (const [name, { shape }] of Object.entries(observation)) {
    arrays[`cuts/observations/${name}`] = { data: cuts.observations[name], shape: [count, agents.length, ...shape] };
  }
  const spaces = actionSpaces && actionLayout({ agents, actions: actionSpaces }).spaces.map(saveSpace);
  const kind = { format: 'coplay-experience', version: spaces ? 2 : 1 } as const;
  return { about: { ...kind, agents, observation, envs, steps, actionCount, ...(spaces && { spaces }) }, arrays };
}

/**
 * Puts experience together again.
 *
 * @throws CoplayError for another format or a newer version, and for arrays that are missing or of another shape
 */
export function experienceFrom(
  { about, arrays }: ExperienceArrays,
  where = 'experienceFrom',
): Experience<ActionSpaces> {
  checkFormat(where, about);
  checkArgument(where, 'about', aboutSchema, about);
  checkArgument(where, 'arrays', namedArrays, arrays);
  const { agents, observation, envs, steps, actionCount } = about;
  const actionSpaces = spacesOf(where, about);
  const count = agents.length;
  const { dtype, width } = actionLayout({ agents, actions: actionSpaces ?? actionCount });
  const action = actionSpaces ? [width] : [];
  const cutCount = arrays['cuts/env']?.shape[0] ?? 0;
  const take = <D extends DType>(dtype: D, name: string, ...shape: readonly number[]) =>
    takeArray(where, arrays, name, dtype, shape) as ArrayOf<D>;
  const look = (prefix: string, ...lead: readonly number[]): ObservationArrays =>
    Object.fromEntries(
      Object.entries(observation).map(([key, { dtype, shape }]) => {
        return [key, take(dtype, `${prefix}/${key}`, ...lead, ...shape)];
      }),
    );
  const stranger = Object.keys(arrays).find((name) => {
    const [, key] = /^(?:cuts\/)?observations\/(.*)$/.exec(name) ?? [];
    return key !== undefined && !Object.hasOwn(observation, key);
  });
  const remedy = 'The data are damaged or not experience.';
  // No field has this name, and a schema of records doesn't look at what stands there.
  if (Object.hasOwn(observation, '__proto__')) {
    fail(`${where}: about.observation`, 'names of fields', '"__proto__"', remedy);
  }
  if (stranger !== undefined) {
    fail(`${where}: about.observation`, `a field for the array ${stranger}`, 'none', remedy);
  }
  return {
    ...{ agents, observation, envs, steps, actionCount },
    ...(actionSpaces && { actionSpaces }),
    observations: look('observations', envs, steps, count),
    masks: take('uint8', 'masks', envs, steps, count, actionCount),
    actions: take(dtype, 'actions', envs, steps, count, ...action),
    previousActions: take(dtype, 'previousActions', envs, steps, count, ...action),
    rewards: take('float32', 'rewards', envs, steps, count),
    active: take('uint8', 'active', envs, steps, count),
    terminated: take('uint8', 'terminated', envs, steps, count),
    truncated: take('uint8', 'truncated', envs, steps, count),
    isFirst: take('uint8', 'isFirst', envs, steps),
    ended: take('uint8', 'ended', envs, steps),
    lengths: take('int32', 'lengths', envs),
    isImagined: take('uint8', 'isImagined', envs),
    cuts: {
      env: take('int32', 'cuts/env', cutCount),
      step: take('int32', 'cuts/step', cutCount),
      observations: look('cuts/observations', cutCount, count),
      masks: take('uint8', 'cuts/masks', cutCount, count, actionCount),
      previousActions: take(dtype, 'cuts/previousActions', cutCount, count, ...action),
      ...takeStates(where, arrays, 'cuts/states', [cutCount]),
    },
    extras: takeExtras(where, arrays, [envs, steps, count]),
    ...takeStates(where, arrays, 'states', [envs, steps]),
  };
}

function checkFormat(where: string, about: ExperienceAbout): void {
  if (about?.format !== 'coplay-experience') {
    fail(
      `${where}: about.format`,
      'the format coplay-experience',
      show(about?.format),
      'Give what saveExperience wrote.',
    );
  }
  if (about.version !== 1 && about.version !== 2) {
    fail(
      `${where}: about.version`,
      'version 1 or 2',
      show(about.version),
      'Read it with the version of @coplay/buffers that wrote it.',
    );
  }
}

/** The spaces by id; none in version 1. */
function spacesOf(where: string, about: ExperienceAbout): Readonly<Record<AgentId, ActionSpace>> | undefined {
  const { version, agents, observation, spaces } = about;
  const remedy = 'The data are damaged or not experience.';
  if ((version === 2) !== (spaces !== undefined)) {
    const expected = `${version === 2 ? 'a space for each agent' : 'no spaces'} in version ${version}`;
    fail(`${where}: about.spaces`, expected, show(spaces), remedy);
  }
  if (!spaces) return undefined;
  if (spaces.length !== agents.length) {
    fail(`${where}: about.spaces`, `${agents.length} spaces`, show(spaces), remedy);
  }
  const actions = Object.fromEntries(agents.map((id, seat) => [id, readSpace(spaces[seat])]));
  checkExperienceSpec(where, { agents, observation, actions }, 'any');
  return actions;
}

function takeArray(
  where: string,
  arrays: NamedArrays,
  name: string,
  dtype: DType,
  shape: readonly number[],
): TypedArray {
  const array = arrays[name];
  const got = array ? `${dtypeOf(array.data)} [${array.shape}]` : 'none';
  const expected = `${dtype} [${shape}]`;
  const remedy = 'Its arrays must be as its about says: the data are damaged or not experience.';
  if (got !== expected) fail(where, `${name} of ${expected}`, got, remedy);
  return array.data;
}

/** The game's states [...lead, S] under a name, where there are any: then both of steps and of cuts. */
function takeStates(where: string, arrays: NamedArrays, name: string, lead: readonly number[]) {
  if (!(arrays['states'] || arrays['cuts/states'])) return {};
  if (!arrays[name]) {
    fail(
      where,
      `the array ${name}`,
      'none',
      'States belong to steps and to cuts: the data are damaged or not experience.',
    );
  }
  const { data, shape } = arrays[name];
  const full = [...lead, ...shape.slice(lead.length)];
  return { states: { data: takeArray(where, arrays, name, dtypeOf(data), full), shape: full } };
}

/** Every array under `extras/`; they begin with [E, T, A]. */
function takeExtras(where: string, arrays: NamedArrays, lead: readonly number[]): NamedArrays {
  const extras: NamedArrays = {};
  for (const name of Object.keys(arrays).filter((key) => key.startsWith('extras/'))) {
    const { data, shape } = arrays[name];
    takeArray(where, arrays, name, dtypeOf(data), [...lead, ...shape.slice(3)]);
    extras[name.slice('extras/'.length)] = { data, shape };
  }
  return extras;
}
