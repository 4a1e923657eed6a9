import { type ActionSpaces, type Experience, fail, show } from '@coplay/core';
import { checkExperience, checkNumbers } from '@coplay/core/checks';
import { assemble, type Piece } from './assemble';

/**
 * Experience of several environments below one another, [E1 + E2 + ..., T, ...]; T is the longest, shorter ones are
 * padded.
 *
 * @throws CoplayError where agents, spaces or extras differ
 */
export function concatExperience<Spaces extends ActionSpaces>(parts: readonly Experience<Spaces>[]): Experience<Spaces>;
export function concatExperience(parts: readonly Experience<ActionSpaces>[]): Experience<ActionSpaces> {
  if (!Array.isArray(parts)) fail('concatExperience: parts', 'a list', show(parts), 'Give the experience to join.');
  for (const [i, part] of parts.entries()) checkExperience('concatExperience', part, `parts[${i}]`, 'any');
  if (parts.length === 0) fail('concatExperience', 'at least one part', 'none', 'Give the experience to join.');
  const rows = parts.flatMap((source) => allEnvs(source).map((env) => [wholeRow(source, env)]));
  return assemble('concatExperience', parts[0], rows, Math.max(...parts.map((part) => part.steps)));
}

/** The environments with the given indices, in that order. */
export function selectEnvs<Spaces extends ActionSpaces>(
  experience: Experience<Spaces>,
  envs: readonly number[],
): Experience<Spaces>;
export function selectEnvs(experience: Experience<ActionSpaces>, envs: readonly number[]): Experience<ActionSpaces> {
  checkExperience('selectEnvs', experience, 'experience', 'any');
  checkNumbers('selectEnvs', 'envs', envs, { whole: true });
  for (const env of envs) {
    if (!Number.isInteger(env) || env < 0 || env >= experience.envs) {
      const expected = `environments from 0 to ${experience.envs - 1}`;
      fail('selectEnvs', expected, show(env), 'Give indices of environments.');
    }
  }
  const rows = Array.from(envs, (env) => [wholeRow(experience, env)]);
  return assemble('selectEnvs', experience, rows, experience.steps);
}

/**
 * The steps from `start` up to, but not including, `end` of every environment. Where the stream went on after them, the
 * new end is a cut.
 */
export function sliceSteps<Spaces extends ActionSpaces>(
  experience: Experience<Spaces>,
  start: number,
  end: number,
): Experience<Spaces>;
export function sliceSteps(experience: Experience<ActionSpaces>, start: number, end: number): Experience<ActionSpaces> {
  checkExperience('sliceSteps', experience, 'experience', 'any');
  const isValid =
    Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start <= end && end <= experience.steps;
  if (!isValid) {
    fail('sliceSteps', `0 <= start <= end <= ${experience.steps}`, `${show(start)} to ${show(end)}`, 'Change them.');
  }
  const rows = allEnvs(experience).map((env) => {
    const length = Math.max(0, Math.min(end, experience.lengths[env]) - start);
    return [{ source: experience, env, start: Math.min(start, experience.lengths[env]), length }];
  });
  return assemble('sliceSteps', experience, rows, end - start);
}

/** 0 to E - 1. */
export function allEnvs({ envs }: Pick<Experience, 'envs'>): number[] {
  return Array.from({ length: envs }, (_, env) => env);
}

function wholeRow(source: Experience<ActionSpaces>, env: number): Piece {
  return { source, env, start: 0, length: source.lengths[env] };
}
