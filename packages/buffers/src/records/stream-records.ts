import type { ActionSpaces, Experience } from '@coplay/core';
import { checkExperience } from '@coplay/core/checks';
import { assemble } from '../episodes/assemble';
import { allEnvs } from '../episodes/select';
import { episodesOf } from '../episodes/split';
import type { Records } from './records';
import { toRecords } from './to-records';

/** A piece of each episode that a rollout went through. */
export interface StreamRecords<Spaces extends ActionSpaces = number> {
  /** One piece in each row, by environment, then by time */
  readonly records: Records<Spaces>;
  /** [rows] the environment that each piece was played in */
  readonly envs: Int32Array;
}

/**
 * A rollout's streams as records, episode by episode. A piece that goes on with an episode of the rollout before begins
 * with the record that the piece before ended with; that one alone knows the reward it arrived with.
 */
export function streamRecords<Spaces extends ActionSpaces>(experience: Experience<Spaces>): StreamRecords<Spaces>;
export function streamRecords(experience: Experience<ActionSpaces>): StreamRecords<ActionSpaces> {
  checkExperience('streamRecords', experience, 'experience', 'any');
  const pieces = allEnvs(experience).flatMap((env) => episodesOf(experience, env));
  const longest = Math.max(0, ...pieces.map((piece) => piece.length));
  const episodes = assemble(
    'streamRecords',
    experience,
    pieces.map((piece) => [piece]),
    longest,
  );
  return { records: toRecords(episodes), envs: Int32Array.from(pieces, (piece) => piece.env) };
}
