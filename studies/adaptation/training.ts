import { join } from 'node:path';
import { type LearningAgent, type SelfPlay, selfPlay } from '@coplay/trainers';
import type { Context, SeedPlace } from '../../bench/harness';
import type { Kind } from './kinds';
import type { Plan } from './plan';
import { population } from './population';

/** Agents of one kind that learned together, in a population of partners. */
export interface Trained {
  readonly agents: readonly LearningAgent[];
  readonly run: SelfPlay;
}

/**
 * Trains one agent of a kind for every seat, among its like and partners of other kinds. The training is a run with a
 * checkpoint, which a resumed study goes on from; kinds with the same `training` share it, so that an ablation plays
 * with the same networks as the algorithm that it's compared with.
 */
export async function trained(
  context: Context,
  { game, board, share }: Plan,
  kind: Kind,
  seed: number,
  log: SeedPlace['log'] = [],
): Promise<Trained> {
  const agents = game.agents.map((id) => kind.make(game, id));
  const budget = budgetOf(context, kind);
  const directory = join(
    context.directory,
    'raw',
    `${board}-${kind.training}-${share}-${budget}-steps-training-seed-${seed}`,
  );
  const { steps } = kind;
  const envs = context.isQuick ? 16 : kind.envs;
  const files = { directory, checkpointEvery: 10, keepCheckpoints: 1 };
  const warn = (line: string) => context.say(line);
  const partners = share > 0 ? { partners: population(game, share) } : {};
  const run = selfPlay({ game, agents, ...partners, envs, steps, seed, log: [...log], ...files, warn });
  await run.resume();
  await run.train({ envSteps: budget });
  return { agents, run };
}

/** Environment steps of a training. */
export function budgetOf(context: Context, kind: Kind): number {
  if (context.isQuick) return kind.budget === 'steps' ? 384 : 1024;
  return Number(context.options[kind.budget]);
}
