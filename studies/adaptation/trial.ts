import { evaluate, type Game } from '@coplay/core';
import type { HopSearchOptions } from '@coplay/trainers';
import type { Context, SeedPlace } from '../../bench/harness';
import { CO_PLAYERS, type CoPlayer } from './co-players';
import type { Kind } from './kinds';
import { isLearner, learnedCoPlayer } from './learned-co-players';
import { LINE_UPS, type LineUp, meet } from './meeting';
import { trained } from './training';

/** Returns [episodes] by line-up and co-player. */
export type Returns = Readonly<Record<LineUp, Readonly<Record<string, readonly number[]>>>>;

/** The results of one kind and seed. */
export interface Trial {
  /** Mean return of four of a kind after their training, as they play afterwards. */
  readonly selfPlay: number;
  readonly returns: Returns;
}

/** What all trials have in common. */
export interface Plan {
  readonly game: Game;
  /** Labels of `CO_PLAYERS` and `LEARNERS`. */
  readonly coPlayers: readonly string[];
  readonly search: HopSearchOptions;
  readonly episodes: number;
  readonly games: number;
}

/**
 * Trains four agents of one kind in self-play, then lets them meet strangers. Their networks stay as they are from then
 * on. Their beliefs about each other from training are removed: every co-player is new to them.
 */
export async function trial(context: Context, plan: Plan, kind: Kind, seed: number, place: SeedPlace): Promise<Trial> {
  const { game } = plan;
  const { agents, run } = await trained(context, game, kind, seed, place.log);
  const players = agents.map((agent) => kind.player(agent, plan.search));
  const { mean: level } = await evaluate(game, players, { episodes: context.isQuick ? 8 : 200, seed });
  for (const [i, id] of game.agents.entries()) {
    const nobodyKnown = kind.player(kind.make(game, id), plan.search).save?.();
    if (nobodyKnown) players[i].restore?.(nobodyKnown);
  }
  const returns: Record<LineUp, Record<string, number[]>> = { '1 + 3': {}, '3 + 1': {} };
  for (const lineUp of Object.keys(LINE_UPS) as LineUp[]) {
    for (const label of plan.coPlayers) {
      const { dispose, ...coPlayer } = await coPlayerOf(context, plan, label, seed);
      returns[lineUp][label] = await meet({ ...plan, focal: players, coPlayer, lineUp, seed });
      dispose?.();
    }
    context.say(`${kind.label}, seed ${seed}: met all co-players, ${lineUp}`);
  }
  run.dispose();
  return { selfPlay: level, returns };
}

async function coPlayerOf(context: Context, { game }: Plan, label: string, seed: number): Promise<CoPlayer> {
  return isLearner(label) ? learnedCoPlayer(context, game, label, seed) : CO_PLAYERS[label];
}
