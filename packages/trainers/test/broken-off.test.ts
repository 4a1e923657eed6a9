import type { Experience } from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import { matrixGame } from '@coplay/envs';
import { prosocialRewards } from '@coplay/trainers';
import { describe, expect, it } from 'vitest';
import { episodeTracker } from '../src/self-play/episode-tracker';

const game = matrixGame({ maxSteps: 4 });

/**
 * One stream of two agents: rewards of agent 0 in each step, 10 more for agent 1; the steps that are first, and those
 * that end.
 */
function stream(rewards: readonly number[], firsts: readonly number[], ends: readonly number[]): Experience {
  const experience = allocateExperience(game, 1, rewards.length);
  experience.active.fill(1);
  for (const [t, reward] of rewards.entries()) experience.rewards.set([reward, reward + 10], t * 2);
  for (const t of firsts) experience.isFirst[t] = 1;
  for (const t of ends) experience.ended[t] = 1;
  return experience;
}

describe('an episode that is broken off by a reset', () => {
  it('counts for nothing in the figures of episodes', () => {
    const tracker = episodeTracker(game.agents, 1);
    expect(tracker.add(stream([100, 100], [0], []))).toEqual({ 'episode/count': 0 });
    const metrics = tracker.add(stream([1, 2, 3], [0], [2]));
    expect(metrics).toMatchObject({ 'episode/count': 1, 'episode/length': 3, 'episode/return/agent_0': 6 });
    expect(metrics['episode/return/agent_1']).toBe(36);
  });

  it('earns nobody what the next episode pays', () => {
    const shared = (firsts: readonly number[]) => {
      const experience = stream([2, 4], firsts, []);
      experience.active[2] = 0; // agent 0 leaves after the first step
      return [...prosocialRewards(experience, 0.5)];
    };
    // Means: (2 + 12) / 2 = 7, then 14 / 2 = 7 of agent 1 alone; without a reset agent 0 gets half of it on top.
    expect(shared([0])).toEqual([10.5, 7, 0, 7]);
    expect(shared([0, 1])).toEqual([7, 7, 0, 7]);
  });
});
