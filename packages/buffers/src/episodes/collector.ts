import { type ActionArray, type ActionSpaces, type Experience, fail, type SavedState, show } from '@coplay/core';
import { actionLayout } from '@coplay/core/arrays';
import { actionFault, checkArgument, checkExperience, checkNumbers, namedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import { type ExperienceArrays, experienceArrays, experienceFrom } from './arrays';
import { assemble, type Piece } from './assemble';
import { checkSameKind } from './fields';
import { allEnvs } from './select';
import { endsEpisode, episodesOf, startsEpisode } from './split';

/** Puts whole episodes together from segments that follow one another. */
export interface EpisodeCollector<Spaces extends ActionSpaces = number> {
  /**
   * Takes the next segment of every environment.
   *
   * @returns the episodes that ended in it, whole, one in each row [N, T, ...]; N may be 0. An episode whose start was
   *          never seen is left out, and so is one that was broken off (the environment was reset before its end)
   */
  push(segment: Experience<Spaces>): Experience<Spaces>;
  /** The beginnings of the episodes that go on. */
  state(): SavedState;
  restore(saved: SavedState): void;
}

/** The content of a collector after its first segment. */
const savedSchema = z.looseObject({ about: z.looseObject({}), arrays: namedArrays });

/** A collector that has seen nothing yet. Extras are kept with their steps. */
export function createEpisodeCollector<Spaces extends ActionSpaces = number>(): EpisodeCollector<Spaces>;
export function createEpisodeCollector(): EpisodeCollector<ActionSpaces> {
  let pending: Experience<ActionSpaces> | undefined;

  const begun = (env: number): Piece[] => {
    const length = pending?.lengths[env] ?? 0;
    return pending !== undefined && length > 0 ? [{ source: pending, env, start: 0, length }] : [];
  };

  return {
    push(segment) {
      checkExperience('episodeCollector.push', segment, 'segment', 'any');
      if (pending !== undefined && pending.envs !== segment.envs) {
        const remedy = 'Push the segments of one rollout, or make a collector for each.';
        fail('episodeCollector.push', `${pending.envs} environments`, show(segment.envs), remedy);
      }
      const finished: Piece[][] = [];
      const unfinished = allEnvs(segment).map((env) => {
        let before = begun(env);
        for (const piece of episodesOf(segment, env)) {
          if (startsEpisode(piece)) before = []; // the pending episode was broken off
          const pieces = before.length > 0 || startsEpisode(piece) ? [...before, piece] : [];
          before = endsEpisode(piece) ? [] : pieces;
          if (endsEpisode(piece) && pieces.length > 0) finished.push(pieces);
        }
        return before;
      });
      const episodes = assemble('episodeCollector.push', segment, finished, longest(finished));
      pending = assemble('episodeCollector.push', segment, unfinished, longest(unfinished));
      return episodes;
    },
    state: () => (pending === undefined ? {} : { ...experienceArrays(pending) }),
    restore(saved) {
      const where = 'episodeCollector.restore';
      checkArgument(where, 'saved', z.looseObject({}), saved);
      if (Object.keys(saved).length === 0) {
        pending = undefined;
        return;
      }
      checkArgument(where, 'saved', savedSchema, saved);
      const restored = experienceFrom(saved as unknown as ExperienceArrays, where);
      checkExperience(where, restored, 'saved', 'any');
      checkNumbers(where, 'saved.arrays.lengths', restored.lengths, { min: 0, max: restored.steps });
      checkNumbers(where, 'saved.arrays.cuts/env', restored.cuts.env, { min: 0, max: restored.envs - 1 });
      checkNumbers(where, 'saved.arrays.cuts/step', restored.cuts.step, { min: 0, max: restored.steps - 1 });
      checkValues(where, restored);
      if (pending) checkSameKind(where, pending, restored);
      pending = restored;
    },
  };
}

function longest(rows: readonly (readonly Piece[])[]): number {
  return Math.max(0, ...rows.map((pieces) => pieces.reduce((sum, piece) => sum + piece.length, 0)));
}

/** Refuses flags other than 0 and 1, and actions that the game doesn't have; actions of absent agents are ignored. */
function checkValues(where: string, experience: Experience<ActionSpaces>): void {
  const { active, terminated, truncated, isFirst, ended, isImagined, masks, cuts } = experience;
  const flags = { active, terminated, truncated, isFirst, ended, isImagined, masks, 'cuts/masks': cuts.masks };
  for (const [name, data] of Object.entries(flags)) {
    checkNumbers(where, `saved.arrays.${name}`, data, { min: 0, max: 1 });
  }
  const { agents, actionCount, actionSpaces = actionCount } = experience;
  const { spaces, width } = actionLayout({ agents, actions: actionSpaces });
  const checkActions = (name: string, actions: ActionArray, isThere: (row: number) => boolean): void => {
    for (let row = 0; row < actions.length / width; row++) {
      const fault = isThere(row) ? actionFault(spaces[row % agents.length], actions, row * width) : undefined;
      if (fault) fail(`${where}: saved.arrays.${name}`, `${fault.expected} in row ${row}`, fault.got, fault.remedy);
    }
  };
  checkActions('actions', experience.actions, (row) => active[row] === 1);
  const previous = { previousActions: experience.previousActions, 'cuts/previousActions': cuts.previousActions };
  for (const [name, actions] of Object.entries(previous)) {
    // -1 and NaN say that there was none.
    checkActions(name, actions, (row) => !Number.isNaN(actions[row * width]) && actions[row * width] !== -1);
  }
}
