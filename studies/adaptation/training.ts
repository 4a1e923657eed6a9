import { join } from 'node:path';
import type { Game } from '@coplay/core';
import { type LearningAgent, type SelfPlay, selfPlay } from '@coplay/trainers';
import type { Context, SeedPlace } from '../../bench/harness';
import type { Kind } from './kinds';

/** Agents of one kind that learned among their like. */
export interface Trained {
  readonly agents: readonly LearningAgent[];
  readonly run: SelfPlay;
}

/**
 * Trains one agent of a kind for every seat in self-play. The training is a run with a checkpoint, which a resumed
 * study goes on from; kinds with the same `training` share it, so that an ablation plays with the same networks as the
 * algorithm that it's compared with.
 */
export async function trained(
  context: Context,
  game: Game,
  kind: Kind,
  seed: number,
  log: SeedPlace['log'] = [],
): Promise<Trained> {
  const agents = game.agents.map((id) => kind.make(game, id));
  const budget = budgetOf(context, kind);
  const directory = join(context.directory, 'raw', `${kind.training}-${budget}-steps-training-seed-${seed}`);
  const { steps } = kind;
  const envs = context.isQuick ? 16 : kind.envs;
  const files = { directory, checkpointEvery: 10, keepCheckpoints: 1 };
  const warn = (line: string) => context.say(line);
  const run = selfPlay({ game, agents, envs, steps, seed, log: [...log], ...files, warn });
  await run.resume();
  await run.train({ envSteps: budget });
  return { agents, run };
}

/** Environment steps of a training. */
export function budgetOf(context: Context, kind: Kind): number {
  if (context.isQuick) return kind.budget === 'steps' ? 384 : 1024;
  return Number(context.options[kind.budget]);
}
