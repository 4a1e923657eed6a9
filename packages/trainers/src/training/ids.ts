import { type AgentId, type AnyGame, fail, show } from '@coplay/core';

/**
 * Refuses ids of agents that a learner can't be for.
 *
 * @param where  for the message: `hopAgent`
 * @throws CoplayError for an empty list, an id given twice, and one that the game doesn't have
 */
export function checkIds(where: string, game: AnyGame, ids: readonly AgentId[]): void {
  const isList = Array.isArray(ids) && ids.length > 0 && new Set(ids).size === ids.length;
  if (!isList) fail(`${where}: option ids`, 'a list of different ids', show(ids), 'Take them from game.agents.');
  const stranger = ids.findIndex((id) => !game.agents.includes(id));
  if (stranger < 0) return;
  fail(`${where}: option id`, `one of ${game.agents.join(', ')}`, show(ids[stranger]), 'Take it from game.agents.');
}
