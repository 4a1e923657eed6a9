import { createGenerator, createRollout, type Experience, vectorEnv } from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import { matrixGame, randomAgent } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { chosenRewards, prosocialRewards } from './options';

const GAMMA = 0.5;

/** One episode of four agents by hand: [T, A] rewards, and until when each plays. */
function episode(rewards: readonly (readonly number[])[], lastSteps: readonly number[]): Experience {
  const steps = rewards.length;
  const active = rewards.flatMap((_, t) => lastSteps.map((last) => (t <= last ? 1 : 0)));
  const ended = Uint8Array.from({ length: steps }, (_, t) => (t === steps - 1 ? 1 : 0));
  return {
    ...allocateExperience({ agents: ['a', 'b', 'c', 'd'], observation: {}, actions: 1 }, 1, steps),
    rewards: Float32Array.from(rewards.flat()),
    active: Uint8Array.from(active),
    ended,
  };
}

describe('prosocial rewards', () => {
  it('are the mean over all agents, the same for each that plays', () => {
    const experience = episode(
      [
        [4, 0, 0, 0],
        [0, 2, 2, 0],
      ],
      [1, 1, 1, 1],
    );
    expect([...prosocialRewards(experience, GAMMA)]).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
    expect(chosenRewards('prosocial', experience, GAMMA)).toEqual(prosocialRewards(experience, GAMMA));
    expect([...chosenRewards('own', experience, GAMMA)]).toEqual([4, 0, 0, 0, 0, 2, 2, 0]);
  });

  it('give an agent that has left what the others earn later, discounted to its last step', () => {
    // Agent 0 leaves in step 0 with 4. Means: 1, then (2 + 2) / 4 = 1, then 8 / 4 = 2.
    const experience = episode(
      [
        [4, 0, 0, 0],
        [99, 2, 2, 0],
        [99, 0, 0, 8],
      ],
      [0, 2, 2, 2],
    );
    // Its last step counts 1 + gamma (1 + gamma 2) = 2; nothing is paid where it no longer plays.
    expect([...prosocialRewards(experience, GAMMA)]).toEqual([2, 1, 1, 1, 0, 1, 1, 1, 0, 2, 2, 2]);
  });

  it('differ from own rewards wherever agents earn differently', async () => {
    const game = matrixGame({ kind: 'prisoners-dilemma', maxSteps: 5 });
    const agents = game.agents.map((id) => randomAgent({ game, id }));
    const env = vectorEnv(game, { envs: 8, seed: 1 });
    const experience = await createRollout(env, agents, createGenerator(1)).collect(10);
    const shared = chosenRewards('prosocial', experience, GAMMA);
    const { rewards } = experience;
    let unequal = 0;
    for (let row = 0; row < rewards.length; row += 2) {
      const mean = (rewards[row] + rewards[row + 1]) / 2;
      expect([shared[row], shared[row + 1]]).toEqual([mean, mean]);
      if (rewards[row] !== rewards[row + 1]) unequal++;
    }
    expect(unequal).toBeGreaterThan(20);
  });
});
