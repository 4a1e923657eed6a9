import type { Agent } from './agent';
import { fail, show } from './errors';
import type { AgentId } from './game';

/**
 * The agents in the order of the seats: entry i has the id `ids[i]`. The order of the given list means nothing.
 *
 * @throws CoplayError for a missing, unknown or doubled id
 */
export function seatAgents<Player extends Pick<Agent, 'id'>>(
  where: string,
  ids: readonly AgentId[],
  agents: readonly Player[],
): Player[] {
  if (!Array.isArray(agents) || agents.some((agent) => typeof agent !== 'object' || agent === null)) {
    fail(where, 'a list of agents', show(agents), 'Make each with its id: randomAgent({ game, id }).');
  }
  const seated = ids.map((id) => {
    const found = agents.filter((agent) => agent.id === id);
    if (found.length === 1) return found[0];
    const got = found.length === 0 ? `none among ${show(agents.map((agent) => agent.id))}` : `${found.length}`;
    return fail(
      where,
      `one agent with the id ${show(id)}`,
      got,
      `Give exactly one agent for each of ${ids.join(', ')}.`,
    );
  });
  const stranger = agents.find((agent) => !ids.includes(agent.id));
  if (stranger) {
    fail(where, `ids among ${ids.join(', ')}`, show(stranger.id), 'Make the agent with an id of the game.');
  }
  return seated;
}
