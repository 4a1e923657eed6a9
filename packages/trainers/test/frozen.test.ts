import { nearestHare, stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { frozen, hopAgent, hopPlusAgent, type PpoAgent, planner, ppoAgent, selfPlay } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { tinyGame } from './games';

const network = mlp({ hidden: [8] });
// Action 1 pays in both seats, so that a policy learned in one is good in the other.
const game = tinyGame({ reward: (_agent, action) => action });

beforeAll(async () => {
  await useBackend('wasm');
});

describe('frozen', () => {
  it('plays a trained policy in another seat, drawn or greedy, without learning', async () => {
    const teacher = ppoAgent({ game, id: 'agent_0', network, ppo: { learningRate: 0.02, minibatchSize: 32 } });
    const first = selfPlay({ game, agents: [teacher, ppoAgent({ game, id: 'agent_1', network })], envs: 8, steps: 8 });
    await first.train({ envSteps: 20 * 64 });
    const saved = await teacher.learner.state();
    first.dispose();

    const veteran = ppoAgent({ game, id: 'agent_0', network });
    await veteran.learner.restore(saved);
    for (const greedy of [false, true]) {
      const agents = [ppoAgent({ game, id: 'agent_0', network }), frozen(veteran, { id: 'agent_1', greedy })];
      const second = selfPlay({ game, agents, envs: 2, steps: 8 });
      await second.train({ envSteps: 32 });
      expect(second.learners.map((learner) => learner.name)).toEqual(['agent_0']);
      const { returnMean } = await second.evaluate({ episodes: 100 });
      // Four steps of 1 at best; an untrained policy earns 2.
      if (greedy) expect(returnMean['agent_1']).toBe(4);
      else expect(returnMean['agent_1']).toBeGreaterThan(3.4);
      second.dispose();
    }
    expect((await veteran.learner.state())['params']).toEqual(saved['params']);
    veteran.learner.dispose();
  });

  it('refuses a seat that the game lacks', () => {
    expect(() => frozen(ppoAgent({ game, id: 'agent_0', network }), { id: 'bob' })).toThrow(/frozen: option id.*"bob"/);
  });

  it('refuses agents without a policy of PPO; for an agent that searches it names the function', () => {
    const hunt = { game: stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 }), id: 'agent_0', network };
    const hop = hopAgent(hunt);
    const freeze = (agent: unknown) => () => frozen(agent as PpoAgent);
    expect(freeze(hop)).toThrow(
      /frozen: agent: expected an agent of ppoAgent\(\) or sharedPpoAgents\(\), got "agent_0", "HOP".*planner\(agent\)/s,
    );
    expect(freeze(hopPlusAgent(hunt))).toThrow(/frozen: agent: .*got "agent_0", "HOP\+".*learns by PPO/s);
    for (const agent of [planner(hop), nearestHare({ game: hunt.game, id: 'agent_0' }), undefined]) {
      expect(freeze(agent)).toThrow(/frozen: agent: expected an agent of ppoAgent/);
    }
  });

  it('a learner that was disposed is not started anew in silence', async () => {
    const agents = game.agents.map((id) => ppoAgent({ game, id, network }));
    const first = selfPlay({ game, agents, envs: 1, steps: 4 });
    await first.train({ envSteps: 4 });
    first.dispose();
    const second = selfPlay({ game, agents, envs: 1, steps: 4 });
    await expect(second.train({ envSteps: 4 })).rejects.toThrow(/expected a learner in use, got one that was disposed/);
  });
});
