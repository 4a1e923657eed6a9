import type { ActionSpaces, AgentId, Experience } from '@coplay/core';
import { checkExperience } from '@coplay/core/checks';
import { mean } from '@coplay/core/rows';

/**
 * Returns and lengths of N episodes; means over no episodes are NaN. An agent that played in none of them is missing.
 */
export interface EpisodeStatistics {
  readonly agents: readonly AgentId[];
  /** N */
  readonly episodes: number;
  /** [N, A] undiscounted sums of rewards; NaN where the agent never played in the episode */
  readonly returns: Float64Array;
  /** [N] steps */
  readonly lengths: Int32Array;
  /** Mean return of each agent over the episodes in which it played. */
  readonly returnMean: Readonly<Record<AgentId, number>>;
  /** Mean over the agents that played of those means. */
  readonly mean: number;
  /** Sum over the agents that played of those means. */
  readonly totalMean: number;
  readonly lengthMean: number;
}

/**
 * Counts each row as one episode: give the rows of `splitEpisodes` or of an episode collector. Rewards count in the
 * steps in which an agent was active.
 */
export function episodeStatistics(episodes: Experience<ActionSpaces>): EpisodeStatistics {
  checkExperience('episodeStatistics', episodes, 'episodes', 'any');
  const { agents, envs, steps, rewards, active } = episodes;
  const returns = new Float64Array(envs * agents.length).fill(Number.NaN);
  for (let row = 0; row < rewards.length; row++) {
    const env = Math.floor(row / (steps * agents.length));
    if (active[row] === 0) continue;
    const place = env * agents.length + (row % agents.length);
    returns[place] = (Number.isNaN(returns[place]) ? 0 : returns[place]) + rewards[row];
  }
  const played = agents.map((_, seat) => returns.filter((sum, i) => i % agents.length === seat && !Number.isNaN(sum)));
  const seats = agents.map((_, seat) => seat).filter((seat) => envs === 0 || played[seat].length > 0);
  const means = played.map(mean);
  const total = seats.reduce((sum, seat) => sum + means[seat], 0);
  return {
    agents,
    episodes: envs,
    returns,
    lengths: episodes.lengths.slice(),
    returnMean: Object.fromEntries(seats.map((seat) => [agents[seat], means[seat]])),
    mean: total / seats.length,
    totalMean: total,
    lengthMean: mean(episodes.lengths),
  };
}
