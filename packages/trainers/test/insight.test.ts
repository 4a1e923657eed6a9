import {
  type Agent,
  type AgentInput,
  type AgentOutput,
  createGenerator,
  createRollout,
  type NamedArrays,
  ndarray,
  vectorEnv,
} from '@coplay/core';
import { nearestHare, recordEpisode, stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { hopAgent, hopPlusAgent, planner, ppoAgent, selfPlay, withInsight } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 2, maxSteps: 8 });
const K = game.actions;
const network = mlp({ hidden: [5] });

beforeAll(async () => {
  await useBackend('wasm');
});

/** Plays a few steps and keeps what the first agent was asked and answered. */
async function answers(agent: Agent, steps = 4) {
  const kept: { input: AgentInput; output: AgentOutput }[] = [];
  const listening: Agent = {
    ...agent,
    id: agent.id,
    initialState: (rows) => agent.initialState(rows),
    async act(input, state, generator) {
      const output = await agent.act(input, state, generator);
      kept.push({ input: structuredClone(input), output: structuredClone(output) });
      return output;
    },
    ...(agent.observe && { observe: agent.observe.bind(agent) }),
  };
  const env = vectorEnv(game, { envs: 3, seed: 4 });
  const rollout = createRollout(env, [listening, nearestHare({ game, id: 'agent_1' })], createGenerator(5));
  for (let t = 0; t < steps; t++) await rollout.step();
  return kept;
}

/** tanh(x W + b) W' + b' of one row, in plain arithmetic. */
function forward(params: NamedArrays, part: 'actor' | 'critic', x: number[]): number[] {
  const dense = (name: string, input: number[]) => {
    const [kernel, bias] = ['kernel', 'bias'].map((kind) => params[`${part}/${name}/${kind}`].data);
    return Array.from(bias, (b, j) => input.reduce((sum, value, i) => sum + value * kernel[i * bias.length + j], b));
  };
  return dense('head', dense('body/0', x).map(Math.tanh));
}

/** What a flat network reads of a row: images first, then everything else. */
function flatRow({ observations, rows }: AgentInput, row: number): number[] {
  const rank = (name: string) => game.observation[name].shape.length;
  const names = Object.keys(game.observation);
  const ordered = [...names.filter((name) => rank(name) === 3), ...names.filter((name) => rank(name) !== 3)];
  return ordered.flatMap((name) => {
    const size = observations[name].length / rows;
    return [...observations[name].subarray(row * size, (row + 1) * size)];
  });
}

describe('withInsight of PPO', () => {
  it('tells the policy and the value that the parameters give', async () => {
    const agent = ppoAgent({ game, id: 'agent_0', network });
    await agent.learner.initialise(createGenerator(3));
    const params = await agent.learner.parameters();
    for (const { input, output } of await answers(withInsight(agent))) {
      const { policy, values } = output.extras!;
      expect(policy.shape).toEqual([3, K]);
      for (let row = 0; row < 3; row++) {
        if (input.active[row] === 0) continue;
        const x = flatRow(input, row);
        const weights = forward(params, 'actor', x).map((logit, k) => Math.exp(logit) * input.masks[row * K + k]);
        const sum = weights.reduce((a, b) => a + b);
        weights.forEach((weight, k) => {
          expect(policy.data[row * K + k]).toBeCloseTo(weight / sum, 5);
        });
        expect(values.data[row]).toBeCloseTo(forward(params, 'critic', x)[0], 4);
      }
    }
    agent.learner.dispose();
  });

  it('acts as before, and adds nothing to what is learned from', async () => {
    const agent = ppoAgent({ game, id: 'agent_0', network });
    await agent.learner.initialise(createGenerator(3));
    const plain = await answers(agent);
    const told = await answers(withInsight(agent));
    expect(told.map(({ output }) => output.actions)).toEqual(plain.map(({ output }) => output.actions));
    expect(told[0].output.extras!['logProbs']).toEqual(plain[0].output.extras!['logProbs']);
    expect(Object.keys(plain[0].output.extras!)).toEqual(['logProbs']);
    agent.learner.dispose();
  });

  it.each([{ recurrent: 4 }, { critic: 'joint' as const }])(
    'leaves out values that cannot be told: %o',
    async (options) => {
      const agent = ppoAgent({ game, id: 'agent_0', network, ...options });
      await agent.learner.initialise(createGenerator(3));
      const [first, second] = await answers(withInsight(agent), 2);
      const plain = await answers(agent, 2);
      for (const [i, { output }] of [first, second].entries()) {
        expect(output.extras!['values']).toBeUndefined();
        const policy = Array.from(output.extras!['policy'].data);
        for (let row = 0; row < 3; row++) {
          expect(policy.slice(row * K, (row + 1) * K).reduce((a, b) => a + b)).toBeCloseTo(1, 5);
        }
        expect(output.state).toEqual(plain[i].output.state);
      }
      agent.learner.dispose();
    },
  );
});

describe('withInsight of HOP', () => {
  const options = {
    network,
    search: { simulations: 6, trees: 2 },
    moa: { network, minRows: 1, centred: false },
  };

  it('tells visits of the search, whose policy and values it passes on, and beliefs', async () => {
    const agent = hopAgent({ game, id: 'agent_0', ...options });
    await agent.learner.initialise(createGenerator(1));
    for (const { input, output } of await answers(withInsight(planner(agent)), 2)) {
      const { policy, values, visits, beliefs, searchPolicy, searchValues } = output.extras!;
      expect(policy).toEqual(searchPolicy);
      expect(values).toEqual(searchValues);
      expect(beliefs.shape).toEqual([3, 4]);
      for (let row = 0; row < 3; row++) {
        const tried = Array.from(visits.data).slice(row * K, (row + 1) * K);
        // Every simulation of every tree tries one action at the root.
        expect(tried.reduce((a, b) => a + b)).toBe(input.active[row] === 1 ? 12 : 0);
        tried.forEach((count, k) => {
          if (input.masks[row * K + k] === 0) expect(count).toBe(0);
        });
      }
    }
    agent.learner.dispose();
  });

  it('fills a recording with what it believes of each co-player', async () => {
    const agent = hopAgent({ game, id: 'agent_0', ...options });
    await agent.learner.initialise(createGenerator(1));
    const agents = [withInsight(agent), nearestHare({ game, id: 'agent_1' })];
    const { steps, goals } = await recordEpisode(game, agents, { seed: 1 });
    expect(goals).toEqual(['stag', 'hare']);
    const first = steps[0].insights![0]!;
    expect(first.visits!.reduce((a, b) => a + b)).toBe(12);
    expect(Object.keys(first.beliefs!)).toEqual(['agent_1']);
    expect(first.beliefs!['agent_1'].reduce((a, b) => a + b)).toBeCloseTo(1, 6);
    agent.learner.dispose();
  });
});

describe('withInsight of others', () => {
  it('HOP+ tells its policy and value with the subgoals it inferred', async () => {
    const omg = { goalDim: 2, hidden: [8], stateUnits: 4, historyUnits: 6 };
    const agent = hopPlusAgent({ game, id: 'agent_0', network, worldModel: false, imagined: false, moa: false, omg });
    await agent.learner.initialise(createGenerator(2));
    const told = await answers(withInsight(agent), 2);
    const plain = await answers(agent, 2);
    expect(told.map(({ output }) => output.actions)).toEqual(plain.map(({ output }) => output.actions));
    const { policy, values, logProbs } = told[0].output.extras!;
    told[0].output.actions.forEach((action, row) => {
      expect(Math.log(policy.data[row * K + action])).toBeCloseTo(logProbs.data[row], 4);
    });
    expect(values.data.every(Number.isFinite)).toBe(true);
    agent.learner.dispose();
  });

  it("adds the insight of a user's own agent", async () => {
    const own: Agent = {
      ...nearestHare({ game, id: 'agent_0' }),
      insight: ({ rows }) => ({ values: ndarray(new Float32Array(rows).fill(0.5)) }),
    };
    const agents = [withInsight(own), nearestHare({ game, id: 'agent_1' })];
    const { steps } = await recordEpisode(game, agents, { seed: 1 });
    expect(steps[0].insights?.[0]?.value).toBe(0.5);
  });

  it('is refused where it would hide a learner from self-play', () => {
    const agents = game.agents.map((id) => withInsight(ppoAgent({ game, id, network })));
    expect(() => selfPlay({ game, agents, envs: 1, steps: 2 })).toThrow(
      /selfPlay: expected agents that it can train, got withInsight\(the agent of agent_0\)\. Give the agent itself/,
    );
  });

  it('leaves rules as they are', () => {
    const rule = nearestHare({ game, id: 'agent_0' });
    expect(withInsight(rule)).toBe(rule);
  });
});
