import type { Agent, AgentId, Game } from '@coplay/core';
import {
  cartPole,
  catchGame,
  freeRider,
  matrixGame,
  nearestDrift,
  nearestHare,
  nearestStag,
  randomAgent,
  snowdrift,
  stagHunt,
  titForTat,
} from '@coplay/envs';
import { hopPlusAgent, ppoAgent, sharedHopPlusAgents, sharedPpoAgents } from '@coplay/trainers';

/** Whatever a file holds: the function that it is given to checks it. */
type Given = Readonly<Record<string, unknown>>;
/** Makes agents for some seats. */
type Maker = (game: Game, ids: readonly AgentId[], options: Given) => Agent[];

/** Games by the names that configurations have for them. */
export const GAMES = {
  'stag-hunt': stagHunt,
  snowdrift,
  matrix: matrixGame,
  'cart-pole': cartPole,
  catch: catchGame,
} satisfies Readonly<Record<string, (options: Given) => Game>>;

/** Agents by their kinds. */
export const AGENTS = {
  ppo: each(ppoAgent),
  'shared-ppo': (game, ids, options) => sharedPpoAgents({ game, ids, ...options }),
  'hop-plus': each(hopPlusAgent),
  'shared-hop-plus': (game, ids, options) => sharedHopPlusAgents({ game, ids, ...options }),
  random: each(randomAgent),
  'nearest-stag': each(nearestStag),
  'nearest-hare': each(nearestHare),
  'tit-for-tat': each(titForTat),
  'nearest-drift': each(nearestDrift),
  'free-rider': each(freeRider),
} satisfies Readonly<Record<string, Maker>>;

function each(make: (options: { game: Game; id: AgentId }) => Agent): Maker {
  return (game, ids, options) => ids.map((id) => make({ game, id, ...options }));
}

/** The names in a record, in its order, for a schema. */
export function namesOf<T extends object>(record: T): [keyof T & string, ...(keyof T & string)[]] {
  return Object.keys(record) as [keyof T & string, ...(keyof T & string)[]];
}
