import { type Game, streamSeed } from '@coplay/core';
import type { Context } from '../../bench/harness';
import type { CoPlayer } from './co-players';
import { KINDS, type Kind } from './kinds';
import { trained } from './training';

/** Co-players that learned among their like, by label. */
export const LEARNERS: Readonly<Record<string, Kind>> = { PPO: KINDS.ppo, 'prosocial PPO': KINDS.prosocial };

/** Whether that's the label of one of {@link LEARNERS}. */
export function isLearner(label: string): boolean {
  return label in LEARNERS;
}

/** Co-players from another training than any focal agent's; all kinds of focal agents meet the same ones. */
export async function learnedCoPlayer(context: Context, game: Game, label: string, seed: number): Promise<CoPlayer> {
  const { agents, run } = await trained(context, game, LEARNERS[label], streamSeed(seed, 'co-players'));
  return { habit: 'other', make: (_, id) => agents[game.agents.indexOf(id)], dispose: () => run.dispose() };
}
