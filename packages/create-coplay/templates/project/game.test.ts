import { assertGame, parallelEnv } from '@coplay/core';
import { ppoAgent, selfPlay } from '@coplay/trainers';
import { expect, it } from 'vitest';
import { createTemplateName } from '../game';

it('follows the rules that every game must follow', () => {
  expect(() => assertGame(createTemplateName())).not.toThrow();
});

it('lets fish grow that agents leave in the lake', () => {
  const env = parallelEnv(createTemplateName({ agents: 2 }), { seed: 1 });
  env.reset();
  // 10 fish: the agents take 2 and 4, and the other 4 become 6.
  const { rewards, observations } = env.step({ agent_0: 1, agent_1: 2 });
  expect(rewards).toEqual({ agent_0: 2, agent_1: 4 });
  expect(observations['agent_0']!['fish']![0]).toBeCloseTo(6 / 20, 6);
});

it('shares the last fish by what agents wanted', () => {
  const env = parallelEnv(createTemplateName({ agents: 4 }), { seed: 1 });
  env.reset();
  // 10 fish, and four agents want 4 each: each gets 2.5.
  const { rewards } = env.step({ agent_0: 2, agent_1: 2, agent_2: 2, agent_3: 2 });
  expect(Object.values(rewards)).toEqual([2.5, 2.5, 2.5, 2.5]);
});

it('can be learned: alone, an agent leaves fish in the lake for later', async () => {
  const game = createTemplateName({ agents: 1 });
  const agents = game.agents.map((id) => ppoAgent({ game, id }));
  const run = selfPlay({ game, agents, envs: 16, seed: 1 });
  await run.train({ envSteps: 10_000 });
  const { mean } = await run.evaluate({ episodes: 100 });
  run.dispose();
  // One that acts by chance wants 2 a day, 20 in all. The best takes 2 on the first day and then 4 a day, 38 in all.
  expect(mean).toBeGreaterThan(25);
}, 60_000);
