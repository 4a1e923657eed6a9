import { z } from 'zod';
import { type ActionSpaces, type ActionSpec, actionLayout, describeSpaces, haveSameSpaces } from './action-spaces';
import { sizeOf } from './arrays';
import { checkExperienceSpec, type TakenSpaces } from './check-game';
import { checkRecord, checkTypedArray } from './check-values';
import { checkArgument, typedArrays } from './checks';
import { fail, show } from './errors';
import type { Experience } from './experience';
import type { ExperienceSpec, Game } from './game';

const count = z.int().min(0);
const ndarray = z.looseObject({ data: typedArrays(), shape: z.array(count) });
const named = z.record(z.string(), ndarray);
const bytes = typedArrays('uint8');

const schema = z.looseObject({
  agents: z.array(z.string()),
  observation: z.record(z.string(), z.looseObject({ shape: z.array(count), dtype: z.string() })),
  envs: count,
  steps: count,
  actionCount: count,
  observations: z.record(z.string(), typedArrays()),
  masks: bytes,
  actions: typedArrays('int32', 'float32'),
  previousActions: typedArrays('int32', 'float32'),
  rewards: typedArrays('float32'),
  active: bytes,
  terminated: bytes,
  truncated: bytes,
  isFirst: bytes,
  ended: bytes,
  lengths: typedArrays('int32'),
  isImagined: bytes,
  cuts: z.looseObject({
    env: typedArrays('int32'),
    step: typedArrays('int32'),
    observations: z.record(z.string(), typedArrays()),
    masks: bytes,
    previousActions: typedArrays('int32', 'float32'),
    extras: named.optional(),
    states: ndarray.optional(),
  }),
  extras: named,
  states: ndarray.optional(),
});

/**
 * Refuses anything but experience whose arrays have the types and lengths that its own sizes ask for. The values in
 * them aren't looked at.
 *
 * @param where       the function whose argument it is, for the message
 * @param experience  as a rollout collects it
 * @param name        the argument's name
 * @param spaces      the actions that the function takes. Default `discrete`
 */
export function checkExperience(
  where: string,
  experience: Experience<ActionSpaces>,
  name = 'experience',
  spaces: TakenSpaces = 'discrete',
): void {
  checkArgument(where, name, schema, experience);
  const { envs, steps, agents, actionCount, observation, cuts } = experience;
  const { actions } = actionsOf(experience);
  checkExperienceSpec(`${where}: ${name}`, { agents, observation, actions }, spaces);
  const { width, maskSize, dtype } = actionLayout({ agents, actions });
  for (const path of ['actions', 'previousActions'] as const) {
    checkTypedArray(where, `${name}.${path}`, experience[path], dtype, envs * steps * agents.length * width);
  }
  const rows = envs * steps * agents.length;
  const places = cuts.env.length * agents.length;
  const sizes: [path: string, length: number, expected: number][] = [
    ['actionCount', actionCount, maskSize],
    ['masks', experience.masks.length, rows * maskSize],
    ['isFirst', experience.isFirst.length, envs * steps],
    ['ended', experience.ended.length, envs * steps],
    ['lengths', experience.lengths.length, envs],
    ['isImagined', experience.isImagined.length, envs],
    ['cuts.step', cuts.step.length, cuts.env.length],
    ['cuts.masks', cuts.masks.length, places * maskSize],
    ['cuts.previousActions', cuts.previousActions.length, places * width],
  ];
  for (const field of ['rewards', 'active', 'terminated', 'truncated'] as const) {
    sizes.push([field, experience[field].length, rows]);
  }
  for (const [field, { shape }] of Object.entries(observation)) {
    const size = sizeOf(shape);
    sizes.push([`observations.${field}`, experience.observations[field]?.length, rows * size]);
    sizes.push([`cuts.observations.${field}`, cuts.observations[field]?.length, places * size]);
  }
  const { states } = experience;
  if (states) {
    const size = states.shape[2];
    sizes.push(['states', states.data.length, envs * steps * size]);
    sizes.push(['cuts.states', cuts.states?.data.length ?? 0, cuts.env.length * size]);
  }
  for (const [path, length, expected] of sizes) {
    if (length === expected) continue;
    const of = `for ${envs} environments, ${steps} steps and ${agents.length} agents`;
    fail(`${where}: ${name}.${path}`, `${expected} values ${of}`, String(length), 'Give arrays of one experience.');
  }
}

/** Whose actions are how in experience. */
function actionsOf({
  agents,
  actionCount,
  actionSpaces = actionCount,
}: Pick<Experience<ActionSpaces>, 'agents' | 'actionCount' | 'actionSpaces'>): ActionSpec {
  return { agents, actions: actionSpaces };
}

/**
 * Refuses experience of another game than the one given: of other agents, actions or observations.
 *
 * @param where  the function whose argument it is, for the message
 * @param game   the game, or its agents, actions and observation
 * @param name   the argument's name
 * @param spaces the actions that the function takes. Default `discrete`
 */
export function checkExperienceOf(
  where: string,
  game: ExperienceSpec<ActionSpaces>,
  experience: Experience<ActionSpaces>,
  name = 'experience',
  spaces: TakenSpaces = 'discrete',
): void {
  checkExperienceSpec(where, game, spaces);
  checkExperience(where, experience, name, spaces);
  const { agents, actionCount, observation } = experience;
  const compare = (part: string, expected: unknown, got: unknown): void => {
    if (String(got) === String(expected)) return;
    fail(
      `${where}: ${name}.${part}`,
      show(expected),
      show(got),
      'Give experience of the game that this was made with.',
    );
  };
  compare('agents', game.agents, agents);
  compare('actionCount', actionLayout(game).maskSize, actionCount);
  const recorded = actionsOf(experience);
  if (!haveSameSpaces(game, recorded)) {
    compare('actionSpaces', describeSpaces(game.actions), `other ones, ${describeSpaces(recorded.actions)}`);
  }
  for (const [field, { shape, dtype }] of Object.entries(game.observation)) {
    compare(`observation.${field}.shape`, shape, observation[field]?.shape);
    compare(`observation.${field}.dtype`, dtype, observation[field].dtype);
  }
}

/** Columns of transitions that aren't fields of the observation. */
const COLUMNS = ['masks', 'active', 'elapsed', 'actions', 'rewards', 'terminated'];

/**
 * Refuses a field of an observation that a column of transitions of the same name would overwrite.
 *
 * @param where  what has the observation, for the message
 */
export function checkFieldNames(where: string, observation: Game['observation']): void {
  checkRecord(where, 'observation', observation);
  const taken = Object.keys(observation).find((name) => COLUMNS.includes(name) || /^(next|past)\//.test(name));
  if (taken === undefined) return;
  const expected = `fields of other names than ${COLUMNS.join(', ')}, next/... and past/...`;
  fail(where, expected, taken, 'Rename the field in the game.');
}
