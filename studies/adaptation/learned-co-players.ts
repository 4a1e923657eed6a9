import { streamSeed } from '@coplay/core';
import type { Context } from '../../bench/harness';
import type { CoPlayer } from './co-players';
import { KINDS, type Kind } from './kinds';
import type { Plan } from './plan';
import { trained } from './training';

/** Co-players that learned among their like and the population, by label. */
export const LEARNERS: Readonly<Record<string, Kind>> = {
  PPO: KINDS.ppo,
  'prosocial PPO': KINDS.prosocial,
  'social influence': KINDS.influence,
  HOP: KINDS.hop,
};

/** Whether that's the label of one of {@link LEARNERS}. */
export function isLearner(label: string): boolean {
  return label in LEARNERS;
}

/** Co-players from another training than any focal agent's; all kinds of focal agents meet the same ones. */
export async function learnedCoPlayer(context: Context, plan: Plan, label: string, seed: number): Promise<CoPlayer> {
  const kind = LEARNERS[label];
  const { agents, run } = await trained(context, plan, kind, streamSeed(seed, 'co-players'));
  const make: CoPlayer['make'] = ({ agents: ids }, id) => kind.player(agents[ids.indexOf(id)], plan.search);
  return { habit: 'other', make, dispose: () => run.dispose() };
}
