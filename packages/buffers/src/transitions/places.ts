import { type Experience, fail } from '@coplay/core';
import { isLastStep } from '@coplay/core/arrays';
import { checkExperience } from '@coplay/core/checks';

/** The places of an experience's transitions, and the places of the observations after them. */
export interface TransitionPlaces {
  /** [B] e * T + t of each */
  readonly steps: Int32Array;
  /** [B] e * T + t of the step that follows, or -1 - n where that is the n-th of the cuts */
  readonly next: Int32Array;
}

/**
 * The steps in which at least one agent was active, by environment and time. The observations after the last step of an
 * episode, or of the stream, are in the cuts. A step after which the environment was reset is left out unless a cut
 * says what came of it.
 *
 * @throws CoplayError for imagined experience: a model mustn't learn from itself; and where a step's successor is
 *         missing
 */
export function transitionPlaces(where: string, experience: Experience): TransitionPlaces {
  checkExperience(where, experience);
  const { envs, steps, lengths, cuts, isImagined, ended } = experience;
  if (isImagined.includes(1)) {
    const got = `imagined experience in environment ${isImagined.indexOf(1)}`;
    fail(
      where,
      'real experience',
      got,
      "Keep imagined episodes from the world model's data: it would learn from itself.",
    );
  }
  const cutAt = new Map<number, number>();
  cuts.env.forEach((env, n) => {
    cutAt.set(env * steps + cuts.step[n], n);
  });
  const places: number[] = [];
  const next: number[] = [];
  for (let env = 0; env < envs; env++) {
    for (let t = 0; t < lengths[env]; t++) {
      const place = env * steps + t;
      if (!isAnyoneActive(experience, place)) continue;
      const isLast = t === lengths[env] - 1 || isLastStep(experience, place);
      const cut = cutAt.get(place);
      if (isLast && cut === undefined) {
        if (ended[place] === 0 && t < lengths[env] - 1) continue; // before a reset: its outcome wasn't recorded
        const got = `none after step ${t} of environment ${env}`;
        fail(where, 'the observations after the last step in experience.cuts', got, 'Collect it with createRollout.');
      }
      places.push(place);
      next.push(cut === undefined ? place + 1 : -1 - cut);
    }
  }
  return { steps: Int32Array.from(places), next: Int32Array.from(next) };
}

function isAnyoneActive({ active, agents }: Experience, place: number): boolean {
  for (let i = 0; i < agents.length; i++) if (active[place * agents.length + i] === 1) return true;
  return false;
}
