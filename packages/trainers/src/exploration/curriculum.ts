import { checkGame, fail, type Game, show } from '@coplay/core';
import { checkFunction, checkNumber, checkRecord } from '@coplay/core/checks';

/** Rules that change during training, for the option `curriculum` of `selfPlay`. */
export interface Curriculum {
  /**
   * The game with the present rules. Agents that imagine or search with rules can have it as their game: then these
   * change as well.
   */
  readonly game: Game;
  /** Takes the rules of a share of the training, in [0, 1]. `selfPlay` calls it before each rollout. */
  setProgress(progress: number): void;
}

/** The parts of a game that must be the same in all lessons, because networks and environments are made from them. */
const FIXED = [
  'agents',
  'actions',
  'observation',
  'stateType',
  'stateSize',
  'maxSteps',
  'infos',
] as const satisfies readonly (keyof Game)[];

/**
 * A curriculum: `lesson` gives the rules to train by at each share of the training, such as those in which a partner
 * joins by chance at first, and less and less often. Lessons have the same agents, actions, observations and states.
 *
 * @param lesson  progress in [0, 1] in, rules out; a function of its argument alone
 * @throws CoplayError if `lesson` returns no game, later also if a lesson differs from the first in one of these parts
 */
export function curriculum(lesson: (progress: number) => Game): Curriculum {
  checkFunction('curriculum', 'lesson', lesson);
  const first = lesson(0);
  checkGame('curriculum: lesson(0)', first);
  let present = first;
  let done = 0;
  const game: Game = {
    ...first,
    reset: (...given) => present.reset(...given),
    step: (...given) => present.step(...given),
    legal: (...given) => present.legal(...given),
    observe: (...given) => present.observe(...given),
    isActive: (...given) => present.isActive(...given),
    elapsed: (...given) => present.elapsed(...given),
  };
  return {
    game,
    setProgress(progress) {
      checkNumber('curriculum.setProgress', 'progress', progress, { min: 0, max: 1 });
      if (progress === done) return;
      const next = lesson(progress);
      checkGame(`curriculum: lesson(${progress})`, next);
      checkSameParts(`curriculum: lesson(${progress})`, 'lesson(0)', first, next);
      present = next;
      done = progress;
    },
  };
}

/** Refuses a value that is no curriculum, and one whose games can't be played by agents of `game`. */
export function checkCurriculum(where: string, given: Curriculum, game: Game): void {
  checkRecord(where, 'curriculum', given);
  checkFunction(where, 'curriculum.setProgress', given.setProgress);
  checkGame(`${where}: curriculum.game`, given.game);
  checkSameParts(`${where}: curriculum.game`, 'the game of the run', game, given.game);
}

function checkSameParts(where: string, of: string, expected: Game, got: Game): void {
  for (const part of FIXED) {
    if (JSON.stringify(got[part]) === JSON.stringify(expected[part])) continue;
    fail(
      `${where}: ${part}`,
      `${show(expected[part])} as in ${of}`,
      show(got[part]),
      'Change only rules: what happens in a step, and how an episode starts.',
    );
  }
}
