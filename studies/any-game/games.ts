import type { Game } from '@coplay/core';
import { gymHunt, limitedView, matrixGame, snowdrift, stagHunt } from '@coplay/envs';
import { foraging } from './foraging';

/** A game of the study. */
export interface Subject {
  readonly game: Game;
  /** The best mean return of an agent. Default: not known, so the best of all runs */
  readonly best?: number;
  /** Rewards that all learners learn from. Default: their own */
  readonly reward?: 'prosocial';
}

/** Games that aren't the stag hunt as it is. */
export const SUBJECTS: Readonly<Record<string, Subject>> = {
  'level-based foraging': { game: foraging(), best: 1 / 3 },
  'matrix stag hunt': { game: matrixGame({ kind: 'stag-hunt', maxSteps: 20 }), best: 80 },
  'Gym-Stag-Hunt': { game: gymHunt({ maxSteps: 40 }) },
  // Agents that learn from their own rewards learn to wait for the others, and earn less the better they learn.
  'snowdrift 6x6': { game: snowdrift({ size: 6 }), best: 30, reward: 'prosocial' },
  'stag hunt, limited view': {
    game: limitedView(stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 }), 1),
    best: 3,
  },
};
