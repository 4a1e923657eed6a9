import {
  type Agent,
  type AgentInput,
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  type Metrics,
  type SavedState,
  type VectorEnv,
  vectorEnv,
} from '@coplay/core';
import { allocateStepArrays } from '@coplay/core/arrays';
import { randomAgent, stagHunt } from '@coplay/envs';
import { conv, mlp } from '@coplay/models';
import { fixedMemory } from '@coplay/planning';
import { useBackend } from '@coplay/tensor';
import {
  type HopPlusAgent,
  type HopPlusModules,
  hopPlusAgent,
  type MoaLearner,
  type MoaView,
  selfPlay,
  sharedHopPlusAgents,
} from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 5, maxSteps: 8 });
const K = game.actions;
const network = mlp({ hidden: [8] });
const ppo = { minibatchSize: 64, epochs: 2, realRatio: 0.5, learningRate: 1e-2 };
const moa = { network: conv({ filters: [4], dense: 8 }), minRows: 1, minibatchSize: 32, capacity: 64 };
const omg = { goalDim: 2, hidden: [8], stateUnits: 4, historyUnits: 6, vaeUpdates: 1, vaeSteps: 2, vaeBatchSize: 8 };
const modules: HopPlusModules = {
  worldModel: 'rules',
  imagined: { startUpdates: 0, horizon: 3, moaAccuracy: 1e-6 },
  moa,
  omg,
};
const treeSearch = { trees: 2, simulations: 4 };

beforeAll(async () => {
  await useBackend('wasm');
});

const agentOf = (id: string, more: HopPlusModules = {}, played: Game = game) =>
  hopPlusAgent({ game: played, id, network, ppo, ...modules, ...more });

async function ready(agent: HopPlusAgent): Promise<HopPlusAgent> {
  await agent.learner.initialise(createGenerator(3));
  return agent;
}

/** Sets all parameters to 0: the policy is uniform over legal actions, and every value is 0. */
async function zeroed(agent: HopPlusAgent): Promise<HopPlusAgent> {
  await ready(agent);
  const saved = structuredClone(await agent.learner.state()) as {
    ppo: { params: Record<string, { data: Float32Array }> };
  };
  for (const { data } of Object.values(saved.ppo.params)) data.fill(0);
  await agent.learner.restore(saved as unknown as SavedState);
  return agent;
}

/** The input of an agent in the states of an environment. */
function inputOf({ game: played, ...env }: VectorEnv, seat: number): AgentInput {
  const A = played.agents.length;
  const rows = env.isFirst.length;
  const own = <T extends Float32Array | Uint8Array | Int32Array>(data: T): T => {
    const size = data.length / rows / A;
    const taken = data.slice(0, rows * size) as T;
    for (let row = 0; row < rows; row++) {
      const from = (row * A + seat) * size;
      taken.set(data.subarray(from, from + size), row * size);
    }
    return taken;
  };
  const { observations, masks, active, isFirst, previousActions } = env;
  return {
    rows,
    observations: Object.fromEntries(
      Object.entries(observations).map(([name, data]) => [name, own(data as Float32Array)]),
    ),
    masks: own(masks),
    active: own(active),
    isFirst: isFirst.slice(),
    previousActions: previousActions.slice(),
  };
}

/** The largest discounted return of a lone agent by trying every sequence of actions, for each first action. */
function byExhaustion(alone: Game, state: Int32Array, gamma: number, depth: number): number[] {
  const mask = new Uint8Array(alone.actions);
  alone.legal(state, 0, 0, mask, 0);
  return Array.from(mask, (isLegal, action) => {
    if (isLegal === 0) return Number.NEGATIVE_INFINITY;
    const next = state.slice();
    const result = allocateStepArrays(alone, 1);
    alone.step(next, 0, Int32Array.of(action), 0, createGenerator(1), result, 0);
    const [reward] = result.rewards;
    if (result.terminated[0] === 1 || depth === 1) return reward;
    return reward + gamma * Math.max(...byExhaustion(alone, next, gamma, depth - 1));
  });
}

describe('hopPlusAgent with tree search', () => {
  it('takes the action that exhaustive search finds, though its policy is uniform', async () => {
    const alone = stagHunt({ size: 3, agents: 1, stags: 0, hares: 1, maxSteps: 12 });
    const agent = await zeroed(
      agentOf('agent_0', { omg: false, imagined: false, treeSearch: { trees: 1, simulations: 300 } }, alone),
    );
    const { gamma } = agent.learner.setup.ppo.options;
    for (const layout of ['1.h\n...\n...', '..1\n.h.\n...', '...\n...\nh.1']) {
      const env = vectorEnv(alone, { envs: 1, seed: 1 });
      env.reset({ envs: [0], layout });
      const returns = byExhaustion(alone, env.states as Int32Array, gamma, 5);
      const best = Math.max(...returns);
      const output = await agent.act(inputOf(env, 0), agent.initialState(1), createGenerator(4));
      const policy = [...(output.extras!['searchPolicy'].data as Float32Array)];
      expect(returns[policy.indexOf(Math.max(...policy))]).toBe(best);
      // Of 300 simulations most went where the hare is reached soonest.
      const share = policy.reduce((sum, p, k) => sum + (returns[k] === best ? p : 0), 0);
      expect(share).toBeGreaterThan(0.6);
      expect(output.extras!['searchValues'].data[0]).toBeGreaterThan(0);
    }
    agent.learner.dispose();
  });

  it('plays the policy of the search: log-probabilities are those of what was played', async () => {
    const agent = await ready(agentOf('agent_0', { treeSearch }));
    const { extras, actions, active } = await experienceOf([agent, random('agent_1')], 6);
    const policy = extras['searchPolicy'].data;
    let searched = 0;
    for (let row = 0; row < active.length; row += 2) {
      if (active[row] === 0) continue;
      searched++;
      const own = policy.subarray(row * K, (row + 1) * K) as Float32Array;
      expect(own.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 5);
      // 8 visits: each probability is a multiple of 1/8.
      for (const p of own) expect(p * 8).toBeCloseTo(Math.round(p * 8), 5);
      expect(own[actions[row]]).toBeGreaterThan(0);
      expect(extras['logProbs'].data[row]).toBeCloseTo(Math.log(own[actions[row]]), 6);
    }
    expect(searched).toBeGreaterThan(10);
    agent.learner.dispose();
  });

  it('works without co-players, whose subgoals are no numbers', async () => {
    const alone = stagHunt({ size: 3, agents: 1, stags: 0, hares: 1, maxSteps: 12 });
    const agent = agentOf('agent_0', { omg, imagined: false, treeSearch: { trees: 1, simulations: 4 } }, alone);
    await agent.learner.initialise(createGenerator(1));
    const input = inputOf(vectorEnv(alone, { envs: 3, seed: 1 }), 0);
    const { actions } = await agent.act(input, agent.initialState(3), createGenerator(1));
    expect(actions.length).toBe(3);
    agent.learner.dispose();
  });

  it('draws its actions by that policy', async () => {
    const agent = await ready(agentOf('agent_0', { treeSearch: { trees: 1, simulations: 8 } }));
    const env = vectorEnv(game, { envs: 400, seed: 1 });
    const layout = '1h.\nhS2\n.hh';
    env.reset({ envs: [...new Array(400).keys()], layout });
    const { actions, extras } = await agent.act(inputOf(env, 0), agent.initialState(400), createGenerator(6));
    const policy = extras!['searchPolicy'].data as Float32Array;
    const expected = new Float64Array(K);
    policy.forEach((p, i) => {
      expected[i % K] += p;
    });
    const counts = new Float64Array(K);
    for (const action of actions) counts[action]++;
    // The standard deviation of a count of 400 draws is at most 10.
    counts.forEach((count, k) => void expect(Math.abs(count - expected[k])).toBeLessThan(40));
    expect(new Set(actions).size).toBeGreaterThan(1);
    agent.learner.dispose();
  });

  it.each([
    ["plays: 'policy'", { ...treeSearch, plays: 'policy' }, 'rules'],
    ['a world model that is not accurate yet', { ...treeSearch, minAccuracy: 1 }, { stepsPerUpdate: 1, batchSize: 16 }],
  ] as const)('plays as without a search: %s', async (_, search, worldModel) => {
    const plain = await ready(agentOf('agent_0', { worldModel }));
    const searching = await ready(agentOf('agent_0', { worldModel, treeSearch: search }));
    const env = vectorEnv(game, { envs: 6, seed: 2 });
    const input = inputOf(env, 0);
    const [a, b] = await Promise.all(
      [plain, searching].map((agent) => agent.act(input, agent.initialState(6), createGenerator(4))),
    );
    expect(b.actions).toEqual(a.actions);
    expect(b.extras!['logProbs']).toEqual(a.extras!['logProbs']);
    const sums = Array.from({ length: 6 }, (__, row) => {
      return (b.extras!['searchPolicy'].data as Float32Array).subarray(row * K, (row + 1) * K).reduce((x, y) => x + y);
    });
    for (const sum of sums) expect(sum).toBeCloseTo(worldModel === 'rules' ? 1 : 0, 5);
    for (const agent of [plain, searching]) agent.learner.dispose();
  });

  it('answers a row by the observation in it alone, not by other rows', async () => {
    const agent = await ready(agentOf('agent_0', { treeSearch: { trees: 2, simulations: 8 } }));
    const answer = async (seed: number) => {
      const env = vectorEnv(game, { envs: 5, seed });
      env.reset({ envs: [0], layout: '1h.\nhS2\n.hh' });
      const { extras, actions } = await agent.act(inputOf(env, 0), agent.initialState(5), createGenerator(8));
      return { policy: [...extras!['searchPolicy'].data.subarray(0, K)], action: actions[0], all: [...actions] };
    };
    const [first, second] = [await answer(1), await answer(2)];
    expect(second.policy).toEqual(first.policy);
    expect(second.action).toBe(first.action);
    expect(second.all).not.toEqual(first.all);
    agent.learner.dispose();
  });

  it('searches among the models of its co-players, with goals that they can still reach', async () => {
    const agent = await ready(agentOf('agent_0', { omg: false, treeSearch: { trees: 4, simulations: 6 } }));
    const { learner } = agent;
    const asked: [string, number][] = [];
    const stub = {
      ...{ goals: 2, stateSize: 0, coPlayers: ['agent_1'], accuracy: () => 1, dispose: () => undefined },
      config: { share: true, previousActions: false },
      predict: async (id: string, view: MoaView, goals: Int32Array) => {
        for (let row = 0; row < view.rows; row++) asked.push([id, goals[row]]);
        return new Float32Array(view.rows * K).fill(-Math.log(K));
      },
    } as unknown as MoaLearner;
    (learner.setup.coPlayerModels as Map<number, { moa: MoaLearner }>).set(0, { moa: stub });
    const other = hopPlusAgentOf(learner);
    const env = vectorEnv(game, { envs: 2, seed: 1 });
    env.reset({ envs: [0, 1], layout: '1h.\nh.2\n.hh' }); // no stag: goal 1 is the only one
    await other.act(inputOf(env, 0), other.initialState(2), createGenerator(1));
    expect(asked.length).toBeGreaterThan(0);
    expect(new Set(asked.map(([id]) => id))).toEqual(new Set(['agent_1']));
    // -1 in rows that only fill up
    expect(new Set(asked.map(([, goal]) => goal))).toEqual(new Set([1, -1]));
    learner.dispose();
  });
});

/** Another agent of the same learner, made after its models were replaced. */
function hopPlusAgentOf(learner: HopPlusAgent['learner']): HopPlusAgent {
  const made = agentOf('agent_0', { treeSearch });
  return new (made.constructor as new (id: string, learner: HopPlusAgent['learner']) => HopPlusAgent)(
    'agent_0',
    learner,
  );
}

it('the search takes a memory of co-players, and describes it in the configuration', async () => {
  const lonely = () => fixedMemory([0.25, 0.75]);
  const agent = await ready(agentOf('agent_0', { treeSearch: { ...treeSearch, interOM: lonely } }));
  const env = vectorEnv(game, { envs: 1, seed: 1 });
  const { extras } = await agent.act(inputOf(env, 0), agent.initialState(1), createGenerator(1));
  expect([...(extras!['beliefs'].data as Float32Array)]).toEqual([0, 0, 0.25, 0.75]);
  expect(agent.learner.config['treeSearch']).toMatchObject({ interOM: 'function lonely' });
  expect(agentOf('agent_0', { treeSearch }).learner.config['treeSearch']).not.toHaveProperty('interOM');
  const short = () => [0.25, 0.75] as never;
  expect(() => agentOf('agent_0', { treeSearch: { ...treeSearch, interOM: short } })).toThrow(
    /^HOP\+ \(agent_0\): option treeSearch.interOM: the memory of agent_1: expected a GoalMemory/,
  );
});

describe('learning with tree search', () => {
  const STEPS = 4 * 8;
  type Run = ReturnType<typeof run>;
  function run(more: HopPlusModules, seed = 1, options: object = {}) {
    const kept: Metrics[] = [];
    const log = {
      start: () => {},
      close: () => {},
      write: ({ metrics }: { metrics: Metrics }) => void kept.push(metrics),
    };
    const agents = game.agents.map((id) => {
      return hopPlusAgent({ game, id, network, ...modules, ...more, ppo: { ...ppo, ...options } });
    });
    return { play: selfPlay({ game, agents, envs: 4, steps: 8, seed, log: [log] }), agents, kept };
  }
  const parametersOf = ({ agents }: Run) => agents[0].learner.ppo.parameters();

  it('logs its searches', { tags: ['slow'] }, async () => {
    const { play, kept } = run({ treeSearch });
    await play.train({ envSteps: 2 * STEPS });
    for (const metrics of kept) {
      expect(metrics['agent_0/search/share']).toBe(1);
      expect(metrics['agent_0/search/simulations']).toBe(metrics['agent_0/data/real_rows'] * 2 * 4);
      expect(metrics['agent_0/search/agreement']).toBeGreaterThan(0);
      expect(metrics['agent_0/search/agreement']).toBeLessThanOrEqual(1 + 1e-6);
      expect(metrics['agent_0/search/entropy']).toBeLessThanOrEqual(Math.log(K));
      expect(metrics['agent_0/policy/target_loss']).toBeGreaterThan(0);
      expect(Number.isFinite(metrics['agent_0/search/value'])).toBe(true);
    }
    play.dispose();
  });

  it('teaches the policy what the search found, and not where the target is off', async () => {
    // Nothing else moves the policy: no advantage, no entropy bonus, no imagination.
    const change = async (target: number) => {
      const agent = hopPlusAgent({
        ...{ game, id: 'agent_0', network, ...modules, imagined: false, omg: false },
        ppo: { ...ppo, entropyWeight: 0, epochs: 8, learningRate: 0.1 },
        treeSearch: { ...treeSearch, target },
      });
      const { learner } = await zeroed(agent);
      const played = await experienceOf([agent, random('agent_1')], 8);
      const experience = { ...played, rewards: new Float32Array(played.rewards.length) };
      const before = await crossEntropy(learner, experience);
      await learner.update({ experience, progress: 0, generator: createGenerator(2) });
      const after = await crossEntropy(learner, experience);
      learner.dispose();
      return after - before;
    };
    expect(await change(0)).toBeCloseTo(0, 6);
    expect(await change(1)).toBeLessThan(-0.05);
  });

  it('goes on to the bit after a save, with a learned world model', { tags: ['slow'] }, async () => {
    const more = {
      worldModel: { stepsPerUpdate: 2, batchSize: 16 },
      treeSearch: { ...treeSearch, minAccuracy: 0, target: 0.5, uniformGoals: 0.5 }, // no schedules
    };
    const whole = run(more);
    await whole.play.train({ envSteps: 4 * STEPS });
    const first = run(more);
    await first.play.train({ envSteps: 2 * STEPS });
    const saved = structuredClone(await first.play.state()) as SavedState;
    const second = run(more, 7);
    await second.play.restore(saved);
    await second.play.train({ envSteps: 4 * STEPS });
    expect(await parametersOf(second)).toEqual(await parametersOf(whole));
    for (const { play } of [whole, first, second]) play.dispose();
  });

  it('is the same with an evaluation in between', { tags: ['slow'] }, async () => {
    const [plain, evaluated] = [run({ treeSearch }), run({ treeSearch })];
    for (const { play } of [plain, evaluated]) await play.train({ envSteps: STEPS });
    await evaluated.play.evaluate({ episodes: 8 });
    for (const { play } of [plain, evaluated]) await play.train({ envSteps: 2 * STEPS });
    expect(await parametersOf(evaluated)).toEqual(await parametersOf(plain));
    for (const { play } of [plain, evaluated]) play.dispose();
  });

  it('has its schedules where they were, after a restore', { tags: ['slow'] }, async () => {
    const [one, two] = [run({ treeSearch }), run({ treeSearch })];
    await one.play.train({ envSteps: 2 * STEPS });
    expect(one.agents[0].learner.progress).toBe(0.5);
    await two.play.restore(structuredClone(await one.play.state()) as SavedState);
    expect(two.agents[0].learner.progress).toBe(0.5);
    for (const { play } of [one, two]) play.dispose();
  });

  it.each([
    ['copies of its own policy as co-players', { moa: false }],
    ['no subgoals', { omg: false }],
    ['models without goals', { moa: { ...moa, goals: 'none' } }],
  ] as const)('works with %s', { tags: ['slow'] }, async (_, more) => {
    const { play, kept, agents } = run({ ...more, treeSearch } as HopPlusModules);
    await play.train({ envSteps: 2 * STEPS });
    expect(kept.map((metrics) => metrics['agent_1/search/share'])).toEqual([1, 1]);
    expect(agents[0].learner.updates).toBe(2);
    play.dispose();
  });

  it('works for agents that share a policy', { tags: ['slow'] }, async () => {
    const agents = sharedHopPlusAgents({ game, network, ppo, ...modules, treeSearch });
    const play = selfPlay({ game, agents, envs: 4, steps: 8, seed: 1 });
    await play.train({ envSteps: 2 * STEPS });
    expect(agents[1].learner).toBe(agents[0].learner);
    expect((await play.evaluate({ episodes: 4 })).mean).toBeGreaterThan(0);
    play.dispose();
  });

  it('keeps the log-probabilities of played searches where subgoals are replaced by selected ones', {
    tags: ['slow'],
  }, async () => {
    const chosen = { ...omg, vaeUpdates: 0, epsilon: 1 };
    for (const [plays, isKept] of [
      ['search', true],
      ['policy', false],
    ] as const) {
      const { play, agents } = run({ omg: chosen, treeSearch: { ...treeSearch, plays } });
      await play.train({ envSteps: STEPS });
      const { learner } = agents[0];
      const experience = await experienceOf(agents, 8);
      let taught: Experience | undefined;
      const update = learner.ppo.update.bind(learner.ppo);
      learner.ppo.update = (data) => {
        taught = data.experience;
        return update(data);
      };
      await learner.update({ experience, progress: 0.5, generator: createGenerator(3) });
      expect(taught!.extras['subgoals']).not.toEqual(experience.extras['subgoals']);
      const own = (x: Experience) => x.extras['logProbs'].data.filter((_, row) => row % 2 === 0 && x.active[row] === 1);
      if (isKept) expect(own(taught!)).toEqual(own(experience));
      else expect(own(taught!)).not.toEqual(own(experience));
      play.dispose();
    }
  });

  it('tells its visits', async () => {
    const agent = await ready(agentOf('agent_0', { treeSearch }));
    const input = inputOf(vectorEnv(game, { envs: 3, seed: 2 }), 0);
    const state = agent.initialState(3);
    const output = await agent.act(input, state, createGenerator(4));
    const { visits, policy, values } = await agent.insight!(input, state, output);
    expect(visits.shape).toEqual([3, K]);
    for (let row = 0; row < 3; row++) {
      const own = (visits.data as Int32Array).subarray(row * K, (row + 1) * K);
      expect(own.reduce((a, b) => a + b)).toBe(2 * 4);
      own.forEach((count, k) => {
        expect(output.extras!['searchPolicy'].data[row * K + k]).toBeCloseTo(count / 8, 6);
      });
    }
    expect(policy.shape).toEqual([3, K]);
    expect(values.shape).toEqual([3]);
    agent.learner.dispose();
  });

  it('refuses a saved state from before there was a search', async () => {
    const [without, withSearch] = [await ready(agentOf('agent_0')), await ready(agentOf('agent_0', { treeSearch }))];
    await expect(withSearch.learner.restore(await without.learner.state())).rejects.toThrow(/without progress/);
    for (const { learner } of [without, withSearch]) learner.dispose();
  });
});

it('refuses settings that it cannot search with, and names them', () => {
  const made = (more: object) => () => hopPlusAgent({ game, id: 'agent_0', network, ...modules, treeSearch, ...more });
  expect(made({ treeSearch: { plays: 'policy', target: 0 } })).toThrow(/treeSearch.*a use of the search.*target: 0/s);
  expect(made({ treeSearch: { plays: 'policy', target: { from: 0, to: 0 } } })).toThrow(/a use of the search/);
  expect(made({ treeSearch: { simulation: 3 } })).toThrow(/simulation/);
  expect(made({ treeSearch: { plays: 'visits' } })).toThrow(/plays/);
  expect(made({ treeSearch: { gamma: 0.5 } })).toThrow(/gamma/);
  expect(made({ treeSearch: true })).toThrow(/treeSearch.*options of the search/s);
  expect(made({ worldModel: false, imagined: false })).toThrow(/treeSearch.*a world model/s);
  expect(made({ critic: 'joint' })).toThrow(/treeSearch.*critic/s);
  expect(made({ reward: 'prosocial' })).toThrow(/treeSearch.*reward/s);
  expect(made({ moa: { recurrent: 4 } })).toThrow(/treeSearch.*recurrent/s);
});

const random = (id: string) => randomAgent({ game, id }) as Agent;

/** Steps of four games. */
function experienceOf(agents: readonly Agent[], steps: number): Promise<Experience> {
  return createRollout(vectorEnv(game, { envs: 4, seed: 2 }), [...agents], createGenerator(4)).collect(steps);
}

/** Mean cross-entropy of the first agent's policy with the searches in an experience. */
async function crossEntropy(learner: HopPlusAgent['learner'], experience: Experience): Promise<number> {
  const { extras, active } = experience;
  let sum = 0;
  let rows = 0;
  for (let action = 0; action < K; action++) {
    const all = { ...experience, actions: experience.actions.map(() => action) };
    const { data } = (await learner.ppo.currentLogProbs(all, 0)).extras['logProbs'];
    for (let row = 0; row < active.length; row += 2) {
      const target = extras['searchPolicy'].data[row * K + action];
      if (active[row] === 0 || target === 0) continue;
      sum -= target * data[row];
    }
  }
  for (let row = 0; row < active.length; row += 2) rows += active[row];
  return sum / rows;
}
