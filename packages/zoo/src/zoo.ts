import { type Agent, fail, type Game, show } from '@coplay/core';
import { checkText } from '@coplay/core/checks';
import { remakeGame } from '@coplay/envs';
import { unpackAgents } from '@coplay/trainers';
import type { ZooCard } from './card';
import { bytesOf } from './file';
import { AGENTS } from './generated/agents';
import { CARDS } from './generated/cards';

/** Trained agents with their game. */
export interface ZooAgents {
  readonly game: Game;
  /** In the order of the game's seats. They play and don't learn. */
  readonly agents: readonly Agent[];
  readonly card: ZooCard;
  /** Frees the memory of their networks. */
  dispose(): void;
}

/**
 * Trained agents by their name, with their game. They play at once, in Node and in a page:
 *
 * ```ts
 * const { game, agents } = await zoo('stag-hunt-4x4/ppo');
 * const { mean } = await evaluate(game, agents);
 * ```
 *
 * @param name  one of those of {@link zooCards}
 * @throws CoplayError for an unknown name, with a list of all names; and for a damaged file
 */
export async function zoo(name: string): Promise<ZooAgents> {
  const card = zooCard(name);
  const { BASE64 } = await AGENTS[card.name as keyof typeof AGENTS]();
  const game = remakeGame(card.game);
  const { agents, dispose } = await unpackAgents(await bytesOf(card, BASE64), { game });
  return { game: game as Game, agents, card, dispose };
}

/**
 * The card of agents by their name.
 *
 * @throws CoplayError for an unknown name, with a list of all names
 */
export function zooCard(name: string): ZooCard {
  checkText('zoo', 'name', name);
  const card = CARDS.find((one) => one.name === name);
  if (card !== undefined) return structuredClone(card);
  const names = CARDS.map((one) => one.name).join(', ');
  return fail('zoo', 'the name of agents in the zoo', show(name), `Give one of these: ${names}.`);
}

/** The cards of all agents in the zoo, by name. */
export function zooCards(): readonly ZooCard[] {
  return structuredClone(CARDS);
}
