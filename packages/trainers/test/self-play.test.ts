import { type Agent, createGenerator, createRollout, type Experience, type Metrics, vectorEnv } from '@coplay/core';
import { nearestStag, randomAgent, stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import {
  type LearningAgent,
  pastSelves,
  ppoAgent,
  type SelfPlayOptions,
  selfPlay,
  sharedPpoAgents,
} from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { tinyGame } from './games';

const network = mlp({ hidden: [8] });

beforeAll(async () => {
  await useBackend('wasm');
});

/** Everything the learners measured, update by update. */
function recorder() {
  const entries: Metrics[] = [];
  return {
    entries,
    log: { start: () => {}, close: () => {}, write: ({ metrics }: { metrics: Metrics }) => void entries.push(metrics) },
  };
}

describe('whose trajectory an agent learns from', () => {
  // Agent i earns 10^i in every step: the mean reward in a learner's data names the agent it came from.
  const game = tinyGame({ agents: 4, maxSteps: 5, reward: (agent) => 10 ** agent });
  const signatures = [1, 10, 100, 1000];

  async function meanRewards(agents: Agent[]): Promise<Metrics> {
    const { entries, log } = recorder();
    const run = selfPlay({ game, agents, envs: 3, steps: 10, log: [log] });
    await run.train({ envSteps: 30 });
    run.dispose();
    return entries[0];
  }

  it('is its own, in any order of the agents', async () => {
    const make = (id: string) => ppoAgent({ game, id, network });
    for (const ids of [game.agents, [...game.agents].reverse()]) {
      const metrics = await meanRewards(ids.map(make));
      expect(game.agents.map((id) => metrics[`${id}/reward/mean`])).toEqual(signatures);
      expect(game.agents.map((id) => metrics[`${id}/data/rows`])).toEqual([30, 30, 30, 30]);
    }
  });

  it('is everybody’s where weights are shared', async () => {
    const metrics = await meanRewards(sharedPpoAgents({ game, network }));
    expect(metrics['shared/reward/mean']).toBeCloseTo((1 + 10 + 100 + 1000) / 4);
    expect(metrics['shared/data/rows']).toBe(120);
  });

  it("an index that points at somebody else's rows is seen", async () => {
    // The bug of the field: every agent trained on the first one's trajectory. A user's learner with that bug, in our
    // loop:
    const agents = game.agents.map((id) => {
      const agent = ppoAgent({ game, id, network });
      const own = agent.learner.update.bind(agent.learner);
      const stolen = (experience: Experience): Experience => {
        const rewards = experience.rewards.map((_, row) => experience.rewards[row - (row % 4)]);
        return { ...experience, rewards };
      };
      agent.learner.update = (data) => own({ ...data, experience: stolen(data.experience) });
      return agent;
    });
    const metrics = await meanRewards(agents);
    expect(game.agents.map((id) => metrics[`${id}/reward/mean`])).not.toEqual(signatures);
  });

  it.each([0, 1])("its weights do not change with the other's rewards (seat %i)", async (seat) => {
    const weights = async (others: number) => {
      const changed = tinyGame({ agents: 2, reward: (agent, action) => (agent === seat ? action : others * action) });
      const agents = changed.agents.map((id) => ppoAgent({ game: changed, id, network }));
      const run = selfPlay({ game: changed, agents, envs: 2, steps: 8 });
      await run.train({ envSteps: 16 });
      const params = await Promise.all(agents.map((agent) => agent.learner.parameters()));
      run.dispose();
      return { own: params[seat], other: params[1 - seat] };
    };
    const [first, second] = [await weights(1), await weights(-7)];
    expect(first.own).toEqual(second.own);
    expect(first.other).not.toEqual(second.other);
  });
});

describe('learners', () => {
  const game = stagHunt({ size: 3, agents: 4, stags: 1, hares: 2, maxSteps: 8 });
  const learning = (id: string) => ppoAgent({ game, id, network, ppo: { epochs: 2, minibatchSize: 64 } });
  const fixed = (id: string) => nearestStag({ game, id });
  const settings: Omit<SelfPlayOptions, 'agents'> = { game, envs: 4, steps: 8, seed: 3 };

  it('update equally often, each on its own rows', async () => {
    const run = selfPlay({ ...settings, agents: game.agents.map(learning) });
    await run.train({ envSteps: 3 * 32 });
    expect(run.learners.map((learner) => learner.updates)).toEqual([3, 3, 3, 3]);
    run.dispose();
  });

  it.each([0, 1, 2, 3])('one among three rules, in seat %i', async (seat) => {
    const { entries, log } = recorder();
    const agents = game.agents.map((id, i) => (i === seat ? learning(id) : fixed(id)));
    const run = selfPlay({ ...settings, agents, log: [log] });
    await run.train({ envSteps: 64 });
    expect(run.learners.map((learner) => learner.name)).toEqual([`agent_${seat}`]);
    expect(Object.keys(entries[1]).filter((key) => key.endsWith('policy/loss'))).toEqual([
      `agent_${seat}/policy/loss`,
      'policy/loss',
    ]);
    run.dispose();
  });

  it('three learners and a rule; a different algorithm in each seat', async () => {
    const seen: number[] = [];
    const own: Agent<null> = {
      id: 'agent_3',
      name: 'always the last legal action',
      initialState: () => null,
      act: (input) => ({
        actions: Int32Array.from({ length: input.rows }, (_, row) => input.masks.lastIndexOf(1, row * 7 + 6) - row * 7),
        state: null,
      }),
      observe: (step) => void seen.push(step.rows),
    };
    const agents: Agent[] = [
      own,
      randomAgent({ game, id: 'agent_2' }),
      ppoAgent({ game, id: 'agent_1', network, recurrent: 4 }),
      learning('agent_0'),
    ];
    const run = selfPlay({ ...settings, agents });
    await run.train({ envSteps: 64 });
    expect(run.learners.map((learner) => learner.name)).toEqual(['agent_0', 'agent_1']);
    expect(seen).toHaveLength(16);
    run.dispose();
  });

  it('past selves play and do not learn', async () => {
    const learner = learning('agent_0');
    const others = ['agent_1', 'agent_2', 'agent_3'].map((id) => pastSelves({ id, of: learner, size: 2, every: 1 }));
    const run = selfPlay({ ...settings, agents: [learner, ...others] });
    await run.train({ envSteps: 5 * 32 });
    const saved = others[0].save!() as unknown as { taken: number; snapshots: { serial: number }[] };
    // Due before updates 0..4, of which the last two are kept.
    expect([saved.taken, saved.snapshots.map(({ serial }) => serial)]).toEqual([5, [3, 4]]);
    for (const other of others) other.dispose();
    run.dispose();
  });

  it.each([
    [0, 0, 0],
    [0.25, 56, 144], // of 400: the mean is 100, a standard deviation 8.7
    [1, 400, 400],
  ])('the present self plays a share of %s of the episodes', async (latest, least, most) => {
    const learner = learning('agent_0');
    await learner.learner.initialise(createGenerator(1));
    const others = ['agent_1', 'agent_2', 'agent_3'].map((id) => pastSelves({ id, of: learner, latest }));
    const env = vectorEnv(game, { envs: 400, seed: 1 });
    const rollout = createRollout(env, [learner, ...others], createGenerator(2));
    await rollout.step();
    const states = rollout.state()['states'] as unknown as readonly { readonly players: Int32Array }[];
    const present = states[1].players.filter((player) => player < 0).length;
    expect(present).toBeGreaterThanOrEqual(least);
    expect(present).toBeLessThanOrEqual(most);
    for (const other of others) other.dispose();
    learner.learner.dispose();
  });

  it('refuses agents that do not fit', () => {
    const agents = game.agents.map(learning);
    expect(() => selfPlay({ ...settings, agents: agents.slice(1) })).toThrow(
      /selfPlay: expected one agent with the id "agent_0"/,
    );
    expect(() => selfPlay({ ...settings, agents: [...agents, learning('agent_0')] })).toThrow(/agent_0.*got 2/);
    const shared = sharedPpoAgents({ game, network });
    expect(() => selfPlay({ ...settings, agents: [shared[0], ...agents.slice(1)] })).toThrow(/shared/);
  });
});

describe('evaluate', () => {
  it('changes nothing in the run', async () => {
    const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 2, maxSteps: 8 });
    const train = async (evaluates: boolean) => {
      const learner = ppoAgent({ game, id: 'agent_0', network });
      const agents: Agent[] = [learner, pastSelves({ id: 'agent_1', of: learner, every: 1, size: 2 })];
      const { entries, log } = recorder();
      const run = selfPlay({ game, agents, envs: 4, steps: 8, log: [log] });
      for (const envSteps of [32, 64, 96]) {
        await run.train({ envSteps });
        if (evaluates) await run.evaluate({ episodes: 10, seed: 5 });
      }
      const params = await learner.learner.parameters();
      run.dispose();
      return { params, metrics: entries.map(withoutTimes) };
    };
    expect(await train(true)).toEqual(await train(false));
  });
});

describe('learning', () => {
  it('finds the action that pays, each agent its own', async () => {
    // Agent 0 is paid for action 1, agent 1 for action 0. Breaking the sign of the surrogate or swapping rows ends near
    // 0 or 2.
    const game = tinyGame({ reward: (agent, action) => (action === 1 - agent ? 1 : 0) });
    const agents = game.agents.map((id) =>
      ppoAgent({ game, id, network, ppo: { learningRate: 0.02, minibatchSize: 32 } }),
    );
    const run = selfPlay({ game, agents, envs: 8, steps: 8, seed: 1 });
    await run.train({ envSteps: 25 * 64 });
    const { returnMean } = await run.evaluate({ episodes: 200 });
    for (const id of game.agents) expect(returnMean[id]).toBeGreaterThan(3.6); // of 4
    run.dispose();
  });

  it('remembers a cue with a recurrent network, and cannot without', { tags: ['slow'] }, async () => {
    const game = tinyGame({ agents: 1, maxSteps: 3, reward: (_agent, action, cue) => (action === cue ? 1 : 0) });
    const score = async (recurrent: number) => {
      const agents: LearningAgent<Float32Array>[] = [
        ppoAgent({
          game,
          id: 'agent_0',
          network,
          recurrent,
          ppo: { learningRate: 0.02, minibatchSize: 48, entropyWeight: 0 },
        }),
      ];
      const run = selfPlay({ game, agents, envs: 16, steps: 12, seed: 1 });
      await run.train({ envSteps: 30 * 192 });
      const { mean } = await run.evaluate({ episodes: 300 });
      run.dispose();
      return mean;
    };
    // The first step pays 1 either way; the other two need the cue of the first: 2 on average without memory, 3 with
    // it.
    expect(await score(8)).toBeGreaterThan(2.7);
    expect(await score(0)).toBeLessThan(2.3);
  });
});

function withoutTimes(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).filter(([key]) => !key.startsWith('time/')));
}
