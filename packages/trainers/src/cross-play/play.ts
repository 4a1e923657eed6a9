import {
  type ActionSpaces,
  type Agent,
  type AgentId,
  type CrossPlay,
  checkGame,
  checkOptions,
  type DType,
  evaluate,
  fail,
  type Game,
  type Saved,
  type SeatedPlay,
  seatAgents,
  show,
} from '@coplay/core';
import { z } from 'zod';

/** An agent for each seat of the game, or a function that makes them. */
export type Policy<Spaces extends ActionSpaces = number> =
  | readonly Agent<Saved, Spaces>[]
  | ((id: AgentId) => Agent<Saved, Spaces>);

/** Options of {@link crossPlay}. */
export interface CrossPlayOptions<Spaces extends ActionSpaces = number> {
  /** The rules that all policies play by. */
  readonly game: Game<DType, Spaces>;
  /** By names of yours, at least one: agents of `loadRun`, rules `(id) => nearestStag({ game, id })`, your own. */
  readonly policies: Readonly<Record<string, Policy<Spaces>>>;
  /** Episodes of each seating, at least 1. Default 200 */
  readonly episodes?: number;
  /**
   * Seats in which a policy plays among agents of another. In a game whose seats are equal, one is enough. Default: all
   */
  readonly seats?: readonly AgentId[];
  /** Environments played side by side, at least 1. Default 64 */
  readonly envs?: number;
  /** Seed of games and agents: every seating plays the same games. Default 0 */
  readonly seed?: number;
}

const schema = z.strictObject({
  game: z.unknown(),
  policies: z.record(
    z.string(),
    z.custom<Policy<ActionSpaces>>((value) => Array.isArray(value) || typeof value === 'function', {
      error: 'an agent for each seat, or a function that makes them: (id) => randomAgent({ game, id })',
    }),
  ),
  episodes: z.int().min(1).default(200),
  seats: z.array(z.string()).min(1).optional(),
  envs: z.int().min(1).default(64),
  seed: z.int().min(0).default(0),
});

type AnyAgent = Agent<Saved, ActionSpaces>;

/**
 * Plays policies against and with each other: each policy in all seats (self-play), and in each of `seats` among agents
 * of another policy in all other seats (cross-play). Agents' memories are put back after each seating.
 *
 * @throws CoplayError for no policies, and for a policy without an agent for each seat, by its name
 */
export async function crossPlay<Spaces extends ActionSpaces = number>(
  options: CrossPlayOptions<Spaces>,
): Promise<CrossPlay> {
  const { policies, episodes, envs, seed, ...rest } = checkOptions('crossPlay', schema, options as object);
  const game = options.game as Game<DType, ActionSpaces>;
  checkGame('crossPlay: option game', game, 'any');
  const names = Object.keys(policies);
  if (names.length === 0) {
    fail('crossPlay: option policies', 'one policy or more, by name', 'none', 'Give such as { mine: agents }.');
  }
  const { seats = game.agents } = rest;
  const stranger = seats.find((id) => !game.agents.includes(id));
  if (stranger !== undefined) {
    fail('crossPlay: option seats', `ids of ${game.name}: ${game.agents.join(', ')}`, show(stranger), 'Name seats.');
  }
  const agents = new Map(names.map((name) => [name, agentsOf(name, policies[name], game.agents)]));
  const plays: SeatedPlay[] = [];
  for (const seating of seatings(names, game.agents, seats)) {
    const seated = seating.map((name, seat) => agents.get(name)![seat]);
    const { returns } = await evaluate(game, seated, { episodes, envs, seed });
    plays.push({ seating, returns });
  }
  return { game: game.name, agents: game.agents, policies: names, plays };
}

/** [A] the agents of a policy, in the order of the seats. */
function agentsOf(name: string, policy: Policy<ActionSpaces>, ids: readonly AgentId[]): readonly AnyAgent[] {
  const given = typeof policy === 'function' ? ids.map((id) => policy(id)) : policy;
  return seatAgents(`crossPlay: option policies.${name}`, ids, given);
}

/** All different seatings: each policy alone, then each in each of `seats` among each other one. */
function seatings(names: readonly string[], ids: readonly AgentId[], seats: readonly AgentId[]): string[][] {
  const all = names.map((name) => ids.map(() => name));
  for (const focal of names) {
    for (const company of names) {
      if (focal !== company) for (const seat of seats) all.push(ids.map((id) => (id === seat ? focal : company)));
    }
  }
  return [...new Map(all.map((seating) => [JSON.stringify(seating), seating])).values()];
}
