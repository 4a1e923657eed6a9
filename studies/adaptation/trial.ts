import { evaluate, type Game } from '@coplay/core';
import { type HopSearchOptions, selfPlay } from '@coplay/trainers';
import type { Context, SeedPlace } from '../../bench/harness';
import { CO_PLAYERS } from './co-players';
import type { Kind } from './kinds';
import { LINE_UPS, type LineUp, meet } from './meeting';

/** Returns [episodes] by line-up and co-player. */
export type Returns = Readonly<Record<LineUp, Readonly<Record<string, readonly number[]>>>>;

/** What is kept of one kind and seed. */
export interface Trial {
  /** Mean return of four of a kind after their training, as they play afterwards. */
  readonly selfPlay: number;
  readonly returns: Returns;
}

/** What all trials have in common. */
export interface Plan {
  readonly game: Game;
  /** Labels of `CO_PLAYERS`. */
  readonly coPlayers: readonly string[];
  readonly search: HopSearchOptions;
  readonly episodes: number;
  readonly games: number;
}

/**
 * Trains four agents of one kind in self-play, then lets them meet strangers. Their networks stay as they are from then on. What they came to believe of
 * each other in training is put away: everyone they meet is new to them. The training is a run with checkpoints, which a resumed trial goes on from.
 */
export async function trial(context: Context, plan: Plan, kind: Kind, seed: number, place: SeedPlace): Promise<Trial> {
  const { game } = plan;
  const agents = game.agents.map((id) => kind.make(game, id));
  const strangers = agents.map((agent) => agent.save?.());
  const { steps } = kind;
  const envs = context.isQuick ? 16 : kind.envs;
  const files = { directory: `${place.directory}/training`, checkpointEvery: 10, keepCheckpoints: 1 };
  const warn = (line: string) => context.say(line);
  const run = selfPlay({ game, agents, envs, steps, seed, log: [...place.log], ...files, warn });
  if (place.mayResume) await run.resume();
  await run.train({ envSteps: budgetOf(context, kind) });

  const players = agents.map((agent) => kind.player(agent, plan.search));
  const { mean: level } = await evaluate(game, players, { episodes: context.isQuick ? 8 : 200, seed });
  for (const [i, player] of players.entries()) if (strangers[i]) player.restore?.(strangers[i]);
  const returns: Record<LineUp, Record<string, number[]>> = { '1 + 3': {}, '3 + 1': {} };
  for (const lineUp of Object.keys(LINE_UPS) as LineUp[]) {
    for (const label of plan.coPlayers) {
      const meeting = { ...plan, focal: players, coPlayer: CO_PLAYERS[label], lineUp, seed };
      returns[lineUp][label] = await meet(meeting);
    }
    context.say(`${kind.label}, seed ${seed}: met all co-players, ${lineUp}`);
  }
  run.dispose();
  return { selfPlay: level, returns };
}

/** Environment steps of a training. */
export function budgetOf(context: Context, kind: Kind): number {
  if (context.isQuick) return kind.budget === 'steps' ? 384 : 1024;
  return Number(context.options[kind.budget]);
}
