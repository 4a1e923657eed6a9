import { type ActionSpaces, checkOptions, type Experience, fail, show } from '@coplay/core';
import { isLastStep } from '@coplay/core/arrays';
import { checkExperience, checkNumber } from '@coplay/core/checks';
import { z } from 'zod';
import { assemble, type Piece } from './assemble';
import { allEnvs } from './select';

/** Options of {@link splitEpisodes}. */
export interface SplitEpisodesOptions {
  /**
   * Whether to `drop` (default) or `keep` episodes that were broken off, or whose start or end lies outside the stream
   */
  readonly partial?: 'drop' | 'keep' | undefined;
  /** T of the result; at least the longest episode, which is the default */
  readonly steps?: number | undefined;
}

const schema = z.strictObject({
  partial: z.enum(['drop', 'keep']).default('drop'),
  steps: z.int().min(1).optional(),
});

/**
 * One episode in each row, [N, T, ...], padded with zeros after `lengths`. Order: by environment, then by time.
 *
 * @param experience  streams in which episodes follow one another
 */
export function splitEpisodes<Spaces extends ActionSpaces>(
  experience: Experience<Spaces>,
  options?: SplitEpisodesOptions,
): Experience<Spaces>;
export function splitEpisodes(
  experience: Experience<ActionSpaces>,
  options: SplitEpisodesOptions = {},
): Experience<ActionSpaces> {
  checkExperience('splitEpisodes', experience, 'experience', 'any');
  const { partial, steps } = checkOptions('splitEpisodes', schema, options);
  const pieces = allEnvs(experience)
    .flatMap((env) => episodesOf(experience, env))
    .filter((piece) => partial === 'keep' || (startsEpisode(piece) && endsEpisode(piece)));
  const longest = Math.max(0, ...pieces.map((piece) => piece.length));
  if (steps !== undefined && steps < longest) {
    fail('splitEpisodes', `steps of at least ${longest}, the longest episode`, show(steps), 'Give more steps.');
  }
  return assemble(
    'splitEpisodes',
    experience,
    pieces.map((piece) => [piece]),
    steps ?? longest,
  );
}

/**
 * Segments of L steps, [N, L, ...]: each stream cut from its start, the last segment padded with zeros. Episodes may
 * begin within a segment: `isFirst` says where. All extras are kept, so that a segment starts with the recurrent state
 * that was stored in its first step.
 */
export function splitSegments<Spaces extends ActionSpaces>(
  experience: Experience<Spaces>,
  length: number,
): Experience<Spaces>;
export function splitSegments(experience: Experience<ActionSpaces>, length: number): Experience<ActionSpaces> {
  checkExperience('splitSegments', experience, 'experience', 'any');
  checkNumber('splitSegments', 'length', length, { min: 1, max: 1e6, whole: true });
  const pieces = allEnvs(experience).flatMap((env) => {
    const filled = experience.lengths[env];
    return Array.from({ length: Math.ceil(filled / length) }, (_, i) => {
      return [{ source: experience, env, start: i * length, length: Math.min(length, filled - i * length) }];
    });
  });
  return assemble('splitSegments', experience, pieces, length);
}

/** The episodes of one stream, whole or not; one that was broken off by a reset is a piece of its own. */
export function episodesOf(source: Experience<ActionSpaces>, env: number): Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  for (let t = 0; t < source.lengths[env]; t++) {
    if (t < source.lengths[env] - 1 && !isLastStep(source, env * source.steps + t)) continue;
    pieces.push({ source, env, start, length: t + 1 - start });
    start = t + 1;
  }
  return pieces;
}

/** Whether a piece begins where an episode does. */
export function startsEpisode({ source, env, start }: Piece): boolean {
  return source.isFirst[env * source.steps + start] === 1;
}

/** Whether a piece ends where an episode does. */
export function endsEpisode({ source, env, start, length }: Piece): boolean {
  return source.ended[env * source.steps + start + length - 1] === 1;
}
