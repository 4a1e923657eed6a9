import {
  type BoxSpace,
  box,
  createGenerator,
  createRollout,
  type Experience,
  evaluate,
  type Game,
  type Log,
  ndarray,
  vectorEnv,
} from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import { matrixGame, pendulum, stagHunt } from '@coplay/envs';
import { actorCritic, inputEncoder, jointEncoder, mlp } from '@coplay/models';
import { tf, useBackend } from '@coplay/tensor';
import { frozen, pastSelves, ppoAgent, selfPlay, sharedPpoAgents, toOnnx } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { mixedGame } from '../../core/test/mixed-game';
import { runNode } from '../../tensor/test/onnx-files';
import { normalisedNet, RewardStatistics } from '../src/ppo/normalisation';

beforeAll(async () => {
  await useBackend('wasm');
});

const network = mlp({ hidden: [8] });
const normal = { normaliseObservations: true, normaliseRewards: true } as const;
const game = pendulum({ maxSteps: 7 });
const agentOf = (ppo = {}) => ppoAgent({ game, id: 'agent_0', network, ppo: { ...normal, minibatchSize: 16, ...ppo } });

/** One experience [1, T, A] of an agent or two with these rewards, and no end. */
function paid(rewards: readonly (readonly number[])[], isImagined = 0): Experience {
  const A = rewards[0].length;
  const experience = allocateExperience(matrixGame(), 1, rewards.length) as Experience;
  const spec = { ...experience, agents: experience.agents.slice(0, A), isImagined: Uint8Array.of(isImagined) };
  return { ...spec, rewards: Float32Array.from(rewards.flat()), active: new Uint8Array(rewards.flat().length).fill(1) };
}

describe('normalised observations', () => {
  it('are (x - mean) scale, within 10, where a number is measured', () => {
    const net = actorCritic({ inputs: { vector: [3] }, actions: 2, network });
    const columns = { 'actor/vector': ndarray(Uint8Array.of(1, 1, 0)) };
    const own = normalisedNet(net, columns, false);
    const arrays = own.init(createGenerator(1));
    expect(arrays['normal/actor/vector/mean'].data).toEqual(Float32Array.of(0, 0, 0));
    expect(arrays['normal/actor/vector/scale'].data).toEqual(Float32Array.of(1, 1, 1));
    tf.tidy(() => {
      const params = Object.fromEntries(
        Object.entries(arrays).map(([name, { data, shape }]) => [name, tf.tensor(data, [...shape])]),
      );
      params['normal/actor/vector/mean'] = tf.tensor1d([1, 2, 0]);
      params['normal/actor/vector/scale'] = tf.tensor1d([0.5, 2, 1]);
      const mask = tf.ones([2, 2]) as tf.Tensor2D;
      const given = { inputs: { vector: tf.tensor2d([3, 1, 50, -99, 9, -50], [2, 3]) } };
      // (3 - 1) 0.5, (1 - 2) 2, 50 as it is; (-99 - 1) 0.5 clipped, (9 - 2) 2 clipped.
      const read = { inputs: { vector: tf.tensor2d([1, -2, 50, -10, 10, -50], [2, 3]) } };
      expect(own.policy(params, given, mask).dataSync()).toEqual(net.policy(params, read, mask).dataSync());
      expect(own.act(params, given.inputs, mask).policy.dataSync()).toEqual(net.policy(params, read, mask).dataSync());
      expect(own.value(params, given).values.dataSync()).toEqual(net.value(params, read).values.dataSync());
    });
  });

  it('have the mean and the deviation of what was seen in all rollouts before', async () => {
    const agent = agentOf();
    const seen: number[] = [];
    const means: Float32Array[] = [];
    const run = selfPlay({
      ...{ game, agents: [agent], envs: 2, steps: 10, seed: 1 },
      onRollout: async (experience) => {
        seen.push(...(experience.observations['state'] as Float32Array));
        const params = await agent.learner.parameters();
        means.push(params['normal/actor/vector/mean'].data as Float32Array);
        const rows = seen.length / 3;
        for (let i = 0; i < 3; i++) {
          const column = seen.filter((_, at) => at % 3 === i);
          const mean = column.reduce((sum, x) => sum + x, 0) / rows;
          const variance = column.reduce((sum, x) => sum + (x - mean) ** 2, 0) / rows;
          expect(params['normal/actor/vector/mean'].data[i]).toBeCloseTo(mean, 5);
          expect(params['normal/actor/vector/scale'].data[i]).toBeCloseTo(1 / Math.sqrt(variance), 4);
        }
      },
    });
    await run.train({ envSteps: 60 });
    expect(means).toHaveLength(3);
    await evaluate(game, [frozen(agent)], { episodes: 3 });
    await run.evaluate({ episodes: 3 });
    // Evaluations change nothing.
    expect((await agent.learner.parameters())['normal/actor/vector/mean'].data).toEqual(means[2]);
    run.dispose();
  });

  it('start each update at the policy that collected its data', async () => {
    const agent = agentOf({ epochs: 1, minibatchSize: 100, learningRate: 0.01 });
    const kl: number[] = [];
    const log: Log = {
      start: () => {},
      write: ({ metrics }) => void kl.push(metrics['policy/approx_kl']),
      close: () => {},
    };
    const run = selfPlay({ game, agents: [agent], envs: 4, steps: 10, seed: 1, log: [log] });
    await run.train({ envSteps: 120 });
    run.dispose();
    expect(kl).toHaveLength(3);
    for (const one of kl) expect(Math.abs(one)).toBeLessThan(1e-6); // one minibatch: before its step
  });

  it('are those of fields of the kind vector', () => {
    const { measured } = inputEncoder(stagHunt({ size: 3 }), { agentId: true });
    // The share of time that has passed; planes and the id are zeros and ones.
    expect(Object.keys(measured)).toEqual(['vector']);
    expect([...measured['vector'].data]).toEqual([1, 0, 0, 0, 0]);
    const joint = jointEncoder(inputEncoder(stagHunt({ size: 3 }), { agentId: true }), 2);
    expect([...joint.measured['vector'].data]).toEqual([1, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
    const noNumbers = () => ppoAgent({ game: matrixGame(), id: 'agent_0', ppo: { normaliseObservations: true } });
    expect(noNumbers).toThrow(
      /normaliseObservations: expected a game with a field of the kind vector, got joint of kind/,
    );
  });

  it.each([
    ['a central critic', { critic: 'joint' }],
    ['recurrent networks', { recurrent: 4 }],
  ] as const)('are learned with %s, in lockstep and by past selves', async (_, options) => {
    const mixed = mixedGame();
    const common = { game: mixed, network, ppo: { ...normal, minibatchSize: 32 }, ...options };
    const agents = mixed.agents.map((id) => ppoAgent({ ...common, id }));
    const run = selfPlay({ game: mixed, agents, envs: 4, steps: 5, seed: 1 });
    await run.train({ envSteps: 60 });
    for (const { learner } of agents) {
      const params = await learner.parameters();
      expect(Object.keys(params).some((name) => name.startsWith('normal/critic'))).toBe('critic' in options);
      // The last number counts steps: 0 to 4, each as often.
      if (learner.name !== 'walker') expect(params['normal/actor/vector/mean'].data[5]).toBeCloseTo(2, 5);
      else expect(params['normal/actor/vector/mean'].data[5]).toBeCloseTo(1, 5); // it leaves with step 3
    }
    const past = pastSelves({ id: 'arm', of: agents[1] });
    await evaluate(mixed, [frozen(agents[0]), past, frozen(agents[2])], { episodes: 2 });
    past.dispose();
    run.dispose();
  });
});

describe('normalised rewards', () => {
  it('are divided by the deviation of discounted sums', () => {
    const rewards = new RewardStatistics(0.5);
    expect(rewards.deviation).toBe(1);
    // R: 2, then 0.5 x 2 + 2 = 3; their variance is 1/4.
    expect([...rewards.scale(paid([[2], [2]]), [0])]).toEqual([2, Math.fround(2 / Math.sqrt(0.25 + 1e-8))]);
    expect(rewards.deviation).toBeCloseTo(0.5, 6);
    // The stream goes on: R = 0.5 x 3 - 1.5 = 0. Of 2, 3 and 0 the mean is 5/3, the variance 14/9.
    expect(rewards.scale(paid([[-1.5]]), [0])[0]).toBeCloseTo(-1.5 / Math.sqrt(14 / 9), 6);
  });

  it('of imagined experience are scaled, and not taken note of', () => {
    const rewards = new RewardStatistics(0.5);
    rewards.scale(paid([[2], [2]]), [0]);
    const { deviation } = rewards;
    const scaled = rewards.scale(paid([[1], [100], [-100]], 1), [0]);
    expect([...scaled]).toEqual([Math.fround(1 / deviation), 10, -10]);
    expect(rewards.deviation).toBe(deviation);
  });

  it('of agents that share weights have one deviation; others are left out', () => {
    const rewards = new RewardStatistics(0.9);
    // Sums 1 and 3: variance 1.
    const scaled = rewards.scale(paid([[1, 3]]), [0, 1]);
    expect([...scaled].map((x) => x.toFixed(5))).toEqual(['1.00000', '3.00000']);
    expect([...new RewardStatistics(0.9).scale(paid([[1, 3]]), [1])]).toEqual([0, 3]);
  });

  it('go on with another number of environments, where episodes begin anew', () => {
    const rewards = new RewardStatistics(0.5);
    rewards.scale(paid([[2], [2]]), [0]);
    rewards.scale(paid([[5, 5]]), [0, 1]);
    // R: 2, 3, 5, 5: mean 15/4, variance 63/4 - 225/16 = 27/16.
    expect(rewards.deviation).toBeCloseTo(Math.sqrt(27 / 16), 6);
  });

  it('leave the values of an agent in the unit of the game', async () => {
    const agent = agentOf({ normaliseValues: true });
    const run = selfPlay({ game, agents: [agent], envs: 4, steps: 14, seed: 2 });
    await run.train({ envSteps: 112 });
    expect(agent.learner.rewardDeviation).toBeGreaterThan(1.5);
    const env = vectorEnv(game, { envs: 3, seed: 5 });
    const input = {
      ...{ rows: 3, observations: env.observations, masks: new Uint8Array(0) },
      ...{ active: env.active, isFirst: env.isFirst, previousActions: env.previousActions },
    };
    const { policy, values } = await agent.learner.policyAndValues(input, 0);
    const state = ndarray(env.observations['state'] as Float32Array, [3, 3]);
    const [outputs] = await runNode(await toOnnx(agent, { value: true }), [{ 'observation/state': state }]);
    for (let row = 0; row < 3; row++) {
      expect(outputs['value'].data[row]).toBeCloseTo(values[row], 4);
      expect(outputs['means'].data[row]).toBeCloseTo(policy[2 * row], 5);
    }
    // As the critic's own numbers, unscaled twice.
    const experience = await createRollout(env, [agent], createGenerator(1)).collect(1);
    const again = await agent.learner.values(experience);
    for (let row = 0; row < 3; row++) expect(again[row]).toBeCloseTo(values[row], 4);
    run.dispose();
  });
});

it('checkpoints hold the statistics: a restored run goes on to the bit', async () => {
  const begin = () => selfPlay({ game, agents: [agentOf({ learningRate: 0.001 })], envs: 2, steps: 10, seed: 1 });
  const whole = begin();
  await whole.train({ envSteps: 80 });
  const first = begin();
  await first.train({ envSteps: 40 });
  const second = begin();
  await second.restore(await first.state());
  await second.train({ envSteps: 80 });
  const [expected, got] = await Promise.all([whole, second].map((run) => run.learners[0].state()));
  expect(JSON.stringify(got['observations'])).toBe(JSON.stringify(expected['observations']));
  expect(got['rewards']).toEqual(expected['rewards']);
  expect(got['params']).toEqual(expected['params']);
  const damaged = { ...(await second.state()) };
  const [learner] = Object.keys(damaged['learners'] as object);
  const parts = { ...(damaged['learners'] as Record<string, Record<string, unknown>>)[learner] };
  delete parts['observations'];
  await expect(second.learners[0].restore(parts as never)).rejects.toThrow(/observations/);
  for (const run of [whole, first, second]) run.dispose();
});

it('shared agents add the observations of all of them', async () => {
  const mixed = { ...mixedGame(), actions: box({ shape: [2] }), legal: () => {} } as never as Game<'float64', BoxSpace>;
  const agents = sharedPpoAgents({ game: mixed, network, ppo: normal });
  const run = selfPlay({ game: mixed, agents, envs: 2, steps: 5, seed: 1 });
  await run.train({ envSteps: 10 });
  // Steps 0 to 4 of two agents, 0 to 2 of the walker: (10 + 10 + 3) / 13.
  const mean = (await agents[0].learner.parameters())['normal/actor/vector/mean'].data[5];
  expect(mean).toBeCloseTo(23 / 13, 5);
  run.dispose();
});

/** The right choice is the sign of a number that is seen 1000 times too large and far from 0, and pays 500. */
const faraway: Game<'float32'> = {
  name: 'faraway',
  agents: ['agent_0'],
  actions: 2,
  actionNames: ['below', 'above'],
  observation: { number: { shape: [1], dtype: 'float32', kind: 'vector' } },
  stateType: 'float32',
  stateSize: 2,
  maxSteps: 1,
  infos: [],
  options: {},
  reset: (state, offset, generator) => {
    state[offset] = 2 * generator.uniform() - 1;
    state[offset + 1] = 0;
  },
  step: (state, offset, actions, at, _generator, { rewards, terminated, truncated }, row) => {
    rewards[row] = (actions[at] === 1) === state[offset] > 0 ? 500 : 0;
    state[offset + 1] = 1;
    terminated[row] = 0;
    truncated[row] = 1;
  },
  legal: (_state, _offset, _agent, mask, at) => void mask.fill(1, at, at + 2),
  observe: (state, offset, _agent, out, row) => {
    out['number'][row] = 10_000 + 1000 * state[offset];
  },
  isActive: () => true,
  elapsed: (state, offset) => state[offset + 1],
};

it('learns a game of numbers far from 0, which it does not without', { tags: ['learning'] }, async () => {
  const learned = async (options: object) => {
    const ppo = { learningRate: 0.005, entropyWeight: 0, epochs: 4, minibatchSize: 64, ...options };
    const agent = ppoAgent({ game: faraway, id: 'agent_0', network: mlp({ hidden: [16] }), ppo });
    const run = selfPlay({ game: faraway, agents: [agent], envs: 64, steps: 4, seed: 1 });
    await run.train({ envSteps: 10_000 });
    const { mean } = await evaluate(faraway, [frozen(agent, { greedy: true })], { episodes: 200 });
    run.dispose();
    return mean;
  };
  expect(await learned(normal)).toBeGreaterThan(475);
  expect(await learned({})).toBeLessThan(400);
});
