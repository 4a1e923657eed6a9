import { fail, show } from './errors';
import type { AgentId, Game } from './game';

const WHERE = 'parallelEnv.step';

/**
 * The actions of a record as [A], 0 for agents that have left.
 *
 * @param alive  [A] true where an agent plays
 * @throws CoplayError unless there is one whole number in 0..K-1 for each active agent, and no other entry
 */
export function readActions(
  game: Game,
  alive: readonly boolean[],
  actions: Readonly<Record<AgentId, number>>,
): Int32Array {
  const ids = game.agents.filter((_, i) => alive[i]);
  if (actions === null || typeof actions !== 'object') {
    const remedy = `Give an action for each of: ${ids.join(', ') || 'nobody, {}'}.`;
    fail(WHERE, 'a record of actions by agent id', show(actions), remedy);
  }
  const stranger = Object.keys(actions).find((id) => !ids.includes(id));
  if (stranger !== undefined) refuseId(game, ids, stranger);
  return Int32Array.from(game.agents, (id, i) => (alive[i] ? readAction(game, id, actions) : 0));
}

function refuseId(game: Game, ids: readonly AgentId[], id: string): never {
  if (ids.length === 0) {
    fail(WHERE, 'no actions after the end of the episode', `one for ${show(id)}`, 'Call reset() to begin another.');
  }
  const got = game.agents.includes(id) ? `one for ${show(id)}, which has left` : `one for the unknown id ${show(id)}`;
  fail(WHERE, `actions for ${ids.join(', ')} only`, got, 'Give one action for each id in env.agents.');
}

function readAction(game: Game, id: AgentId, actions: Readonly<Record<AgentId, number>>): number {
  const action: unknown = Object.hasOwn(actions, id) ? actions[id] : undefined;
  if (typeof action === 'number' && Number.isInteger(action) && action >= 0 && action < game.actions) return action;
  const names = game.actionNames.map((name, i) => `${i} ${name}`).join(', ');
  const expected = `a whole number from 0 to ${game.actions - 1} for ${id}`;
  return fail(WHERE, expected, action === undefined ? 'no action' : show(action), `The actions are: ${names}.`);
}
