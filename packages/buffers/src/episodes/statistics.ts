import type { AgentId, Experience } from '@coplay/core';
import { checkExperience } from '@coplay/core';

/** Returns and lengths of N episodes; means over none are NaN. */
export interface EpisodeStatistics {
  readonly agents: readonly AgentId[];
  /** N */
  readonly episodes: number;
  /** [N, A] undiscounted sums of rewards */
  readonly returns: Float64Array;
  /** [N] steps */
  readonly lengths: Int32Array;
  /** Mean over episodes of each agent's return. */
  readonly returnMean: Readonly<Record<AgentId, number>>;
  /** Mean over agents of those means. */
  readonly mean: number;
  /** Mean over episodes of the sum of all agents' returns: A times `mean`. */
  readonly totalMean: number;
  readonly lengthMean: number;
}

/**
 * Counts each row as one episode: give the rows of `splitEpisodes` or of an episode collector. Rewards count in the
 * steps in which an agent was active.
 */
export function episodeStatistics(episodes: Experience): EpisodeStatistics {
  checkExperience('episodeStatistics', episodes, 'episodes');
  const { agents, envs, steps, rewards, active } = episodes;
  const returns = new Float64Array(envs * agents.length);
  for (let row = 0; row < rewards.length; row++) {
    const env = Math.floor(row / (steps * agents.length));
    if (active[row] === 1) returns[env * agents.length + (row % agents.length)] += rewards[row];
  }
  const means = agents.map((_, seat) => mean(returns.filter((_, i) => i % agents.length === seat)));
  const total = means.reduce((sum, value) => sum + value, 0);
  return {
    agents,
    episodes: envs,
    returns,
    lengths: episodes.lengths.slice(),
    returnMean: Object.fromEntries(agents.map((agent, seat) => [agent, means[seat]])),
    mean: total / agents.length,
    totalMean: total,
    lengthMean: mean(episodes.lengths),
  };
}

function mean(values: Float64Array | Int32Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}
