import type { Agent, AgentId, Game } from '@coplay/core';
import { mixed } from '@coplay/envs';
import type { PartnerOptions } from '@coplay/trainers';
import { noisy } from './noisy';

/** Episodes that a partner stays for, so that there is something to remember between episodes. */
const EPISODES = 8;

/**
 * The partners that all kinds of focal agents train among. None of them is judged: they are mixtures of hunting stags
 * and hares that take a random action now and then, two mostly of one goal and one that waits at the stag.
 */
export function population(game: Game, share: number): PartnerOptions {
  const of = (id: AgentId) => [
    noisy(game, mixed({ game, id, p: 0.1 }) as Agent, 0.2),
    noisy(game, mixed({ game, id, p: 0.9 }) as Agent, 0.2),
    noisy(game, mixed({ game, id, p: 0.3, waits: 'stay' }) as Agent, 0.1),
  ];
  return { of, share, episodes: EPISODES };
}
