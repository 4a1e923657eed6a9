import { type ActionSpace, type AgentId, type AnyGame, fail, show } from '@coplay/core';
import { actionLayout, isSameSpace } from '@coplay/core/arrays';
import type { InputOptions } from '@coplay/models';
import { z } from 'zod';

/** Schema of the networks' inputs in addition to the game's observation: `InputOptions`, without `extras`. */
export const inputSchema = z.strictObject({
  fields: z.array(z.string()).optional(),
  previousActions: z.boolean().optional(),
  agentId: z.boolean().optional(),
  centred: z.boolean().optional(),
  mask: z.boolean().optional(),
});

/** @throws CoplayError for an id that the game doesn't have */
export function checkId(where: string, game: AnyGame, id: AgentId): void {
  if (game.agents.includes(id)) return;
  fail(where, `an id of ${game.name}: ${game.agents.join(', ')}`, show(id), 'Take it from game.agents.');
}

/** @throws CoplayError for a field that the game doesn't show */
export function checkFields(where: string, game: AnyGame, { fields = [] }: InputOptions): void {
  const known = Object.keys(game.observation);
  const unknown = fields.find((field) => !known.includes(field));
  if (unknown === undefined) return;
  const expected = `fields of ${game.name}: ${known.join(', ')}`;
  fail(`${where}: inputs.fields`, expected, show(unknown), 'Name fields of the observation.');
}

/** The space of agents that share a network; refuses agents of which one has another. */
export function commonSpace(
  place: string,
  game: AnyGame,
  ids: readonly AgentId[],
  remedy = 'Give agents with other actions weights of their own.',
): ActionSpace {
  const { spaces } = actionLayout(game);
  const own = ids.map((id) => spaces[game.agents.indexOf(id)]);
  const other = own.findIndex((space) => !isSameSpace(space, own[0]));
  if (other < 0) return own[0];
  return fail(place, `agents with the same actions as ${ids[0]}`, ids[other], remedy);
}
