import { fail } from './errors';
import type { Game } from './game';

/** Which rewards {@link checkRewards} looks at. */
export interface RewardCheck {
  /** [B, A] the rewards of a step */
  readonly rewards: ArrayLike<number>;
  /** Number of games that are looked at */
  readonly rows: number;
  /** The first of them in `rewards`. Default 0 */
  readonly first?: number;
  /** Who computed them, for the message: `step() of the game`, or `the simulator` */
  readonly source: string;
}

/**
 * Refuses rewards that aren't finite: a sum with one of them is lost, and no search or comparison can go on from it.
 * Learners need no such check: they refuse or skip a batch that isn't finite, as their option `nonFinite` says.
 *
 * @param where   who reads them, for the message
 * @param nameOf  names a game: `environment 3, step 5`
 * @throws CoplayError that names the game, the agent, and what `nameOf` says
 */
export function checkRewards(
  where: string,
  { name, agents }: Pick<Game, 'name' | 'agents'>,
  { rewards, rows, first = 0, source }: RewardCheck,
  nameOf: (row: number) => string,
): void {
  const start = first * agents.length;
  for (let i = start; i < start + rows * agents.length; i++) {
    // A difference with itself is 0 for finite numbers alone.
    if (rewards[i] - rewards[i] === 0) continue;
    const place = `${agents[i % agents.length]} in ${nameOf(Math.floor(i / agents.length))}`;
    fail(`${where}: ${name}`, 'finite rewards', `${rewards[i]} for ${place}`, `Look for it in ${source}.`);
  }
}
