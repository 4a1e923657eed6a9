import { type Agent, type AgentId, checkOptions, type Game } from '@coplay/core';
import { freeRider, mixed, nearestDrift, nearestHare, nearestStag, randomAgent, titForTat } from '@coplay/envs';
import {
  dreamerAgent,
  hopAgent,
  hopPlusAgent,
  memoryOneAgent,
  ppoAgent,
  sharedDreamerAgents,
  sharedGoals,
  sharedHopAgents,
  sharedHopPlusAgents,
  sharedPpoAgents,
  socialInfluenceAgent,
} from '@coplay/trainers';
import { z } from 'zod';

/** Makes agents for some seats. The function that it gives the options to checks them. */
type Maker<Options> = (game: Game, ids: readonly AgentId[], options: Options) => Agent[];

/** The options of `memoryOneAgent` as a file can hold them. */
interface MemoryOne {
  /** [5] logits of action 0: after 2 own + other of the last round, and at the start */
  readonly parameters: readonly number[];
}

const memoryOneSchema = z.strictObject({ parameters: z.array(z.number()).readonly() });

/** Agents by their kinds; games of configurations have discrete actions. */
export const AGENTS = {
  ppo: each(ppoAgent<number>),
  'shared-ppo': shared(sharedPpoAgents<number>),
  'hop-plus': each(hopPlusAgent),
  'shared-hop-plus': shared(sharedHopPlusAgents),
  hop: each(hopAgent),
  'shared-hop': shared(sharedHopAgents),
  dreamer: each(dreamerAgent),
  'shared-dreamer': shared(sharedDreamerAgents),
  'social-influence': each(socialInfluenceAgent),
  random: each(randomAgent<number>),
  'nearest-stag': each(nearestStag),
  'nearest-hare': each(nearestHare),
  mixed: each(mixed),
  'tit-for-tat': each(titForTat),
  'nearest-drift': each(nearestDrift),
  'free-rider': each(freeRider),
  'memory-one': memoryOne,
} satisfies Readonly<Record<string, Maker<never>>>;

/** Ways to explore, by their kinds. */
export const EXPLORATIONS = { 'shared-goals': sharedGoals };

/** Kinds that have PPO's numbers. */
export const AROUND_PPO: readonly (keyof typeof AGENTS)[] = [
  'ppo',
  'shared-ppo',
  'hop-plus',
  'shared-hop-plus',
  'social-influence',
];

/** For algorithms and rules of one agent: one of its own for each seat. */
function each<Options extends { readonly game: Game; readonly id: AgentId }>(
  make: (options: Options) => Agent,
): Maker<Omit<Options, 'game' | 'id'>> {
  return (game, ids, options) => ids.map((id) => make({ ...options, game, id } as unknown as Options));
}

/** For agents that share a learner. */
function shared<Options extends { readonly game: Game; readonly ids?: readonly AgentId[] }>(
  make: (options: Options) => Agent[],
): Maker<Omit<Options, 'game' | 'ids'>> {
  return (game, ids, options) => make({ ...options, game, ids } as unknown as Options);
}

function memoryOne(game: Game, ids: readonly AgentId[], options: MemoryOne): Agent[] {
  const parameters = Float64Array.from(checkOptions('memory-one', memoryOneSchema, options).parameters);
  return ids.map((id) => memoryOneAgent({ game, id, parameters }));
}

/** The names in a record, in its order, for a schema. */
export function namesOf<T extends object>(record: T): [keyof T & string, ...(keyof T & string)[]] {
  return Object.keys(record) as [keyof T & string, ...(keyof T & string)[]];
}
