import type { Game } from '@coplay/core';
import { stagHunt } from '@coplay/envs';

/** A board of the study: the stag hunt with four agents, one stag and four hares. */
interface Board {
  readonly what: string;
  make(): Game;
}

const hunt = { agents: 4, stags: 1, hares: 4 } as const;

/**
 * The boards, by name. Beliefs are judged on `cost`, which was fixed before any run on judged seeds and co-players: who
 * walks to a stag that nobody else hunts pays for each step, and for each step of waiting there.
 */
export const BOARDS = {
  cost: { what: '4x4; each step costs 0.1', make: () => stagHunt({ ...hunt, size: 4, stepReward: -0.1 }) },
  limit: { what: '4x4; an episode ends after 12 steps', make: () => stagHunt({ ...hunt, size: 4, maxSteps: 12 }) },
  plain: { what: '4x4; time costs nothing within 35 steps', make: () => stagHunt({ ...hunt, size: 4 }) },
  large: {
    what: '8x8 without obstacles; each step costs 0.1',
    make: () => stagHunt({ ...hunt, size: 8, obstaclePieces: 0, stepReward: -0.1 }),
  },
} as const satisfies Readonly<Record<string, Board>>;

/** A name of {@link BOARDS}. */
export type BoardName = keyof typeof BOARDS;
