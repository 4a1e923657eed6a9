import { z } from 'zod';
import type { ActionSpaces } from './action-spaces';
import type { Agent, Saved } from './agent';
import { checkArgument } from './checks';
import { fail, show } from './errors';
import type { AgentId } from './game';

const idsSchema = z.array(z.string());

/**
 * Refuses a value that isn't an agent: an agent needs `initialState` and `act`.
 *
 * @param where  the function that was given it, for the message
 */
export function checkAgent(where: string, agent: Agent<Saved, ActionSpaces>): void {
  const { id, name, initialState, act } = (agent ?? {}) as Partial<Agent<Saved, ActionSpaces>>;
  const isAgent = typeof id === 'string' && typeof initialState === 'function' && typeof act === 'function';
  if (isAgent && typeof name === 'string') return;
  const remedy = typeof agent === 'function' ? 'Call it.' : 'Make one such as randomAgent({ game, id }).';
  fail(where, 'an agent with id, name, initialState and act', show(agent), remedy);
}

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
  checkArgument(where, 'ids', idsSchema, ids);
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
