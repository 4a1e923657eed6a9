import { type Agent, type AgentId, evaluate, type Game } from '@coplay/core';
import { nearestHare, nearestStag, randomAgent } from '@coplay/envs';
import type { Context, SeedPlace } from '../../bench/harness';
import { CO_PLAYERS, type CoPlayer } from './co-players';
import type { Kind } from './kinds';
import { isLearner, learnedCoPlayer } from './learned-co-players';
import { LINE_UPS, type LineUp, meet } from './meeting';
import type { Plan } from './plan';
import { trained } from './training';

/** Returns [episodes] by line-up and co-player. */
export type Returns = Readonly<Record<LineUp, Readonly<Record<string, readonly number[]>>>>;

/** The results of one kind and seed. */
export interface Trial {
  /** Mean return of four of a kind after their training, as they play afterwards. */
  readonly selfPlay: number;
  readonly returns: Returns;
}

/** What rules earn in the place of focal agents, in the games of one seed. */
export interface Reference {
  readonly random: Returns;
  readonly stag: Returns;
  readonly hare: Returns;
}

/**
 * Trains four agents of one kind, then lets them meet strangers. Their networks stay as they are from then on, and
 * every co-player is new to them.
 */
export async function trial(context: Context, plan: Plan, kind: Kind, seed: number, place: SeedPlace): Promise<Trial> {
  const { game } = plan;
  const { agents, run } = await trained(context, plan, kind, seed, place.log);
  // Each game of another number of games than in training begins with a new memory of everyone.
  const player = (seat: number): Agent => kind.player(agents[seat], plan.search);
  const players = game.agents.map((_, seat) => player(seat));
  const { mean: level } = await evaluate(game, players, { episodes: context.isQuick ? 8 : 200, seed });
  const returns = await meetAll(context, plan, player, seed);
  run.dispose();
  return { selfPlay: level, returns };
}

/** What rules earn in the games of a seed. */
export async function reference(context: Context, plan: Plan, seed: number): Promise<Reference> {
  const { game } = plan;
  const earned = (make: (options: { game: Game; id: AgentId }) => Agent<null>) => {
    return meetAll(context, plan, (seat) => make({ game, id: game.agents[seat] }) as Agent, seed);
  };
  return { random: await earned(randomAgent), stag: await earned(nearestStag), hare: await earned(nearestHare) };
}

async function meetAll(context: Context, plan: Plan, focal: (seat: number) => Agent, seed: number): Promise<Returns> {
  const returns: Record<LineUp, Record<string, number[]>> = { '1 + 3': {}, '3 + 1': {} };
  for (const label of plan.coPlayers) {
    const { dispose, ...coPlayer } = await coPlayerOf(context, plan, label, seed);
    for (const lineUp of Object.keys(LINE_UPS) as LineUp[]) {
      returns[lineUp][label] = await meet({ ...plan, focal, coPlayer, lineUp, seed });
    }
    dispose?.();
  }
  return returns;
}

async function coPlayerOf(context: Context, plan: Plan, label: string, seed: number): Promise<CoPlayer> {
  return isLearner(label) ? learnedCoPlayer(context, plan, label, seed) : CO_PLAYERS[label];
}
