import {
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  gameContract,
  type Metrics,
  type SavedState,
  vectorEnv,
} from '@coplay/core';
import { experienceRows, inputEncoder, jointEncoder } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { type PpoAgent, type PpoOptions, ppoAgent, sharedPpoAgents } from '@coplay/trainers';
import { beforeAll, describe, expect, test } from 'vitest';
import { collected, expectFinite, kinds, NEVER, network, prepare, updated } from './field-helpers';
import { leavingGame, NONCE } from './leaving-game';

// Bugs that other projects had, tried on ours; the ids are those of the list of trials.

beforeAll(async () => {
  await useBackend('wasm');
});

/**
 * A copy in which everything about agents that were not playing is another; a function gives numbers that aren't whole.
 */
function withUnused(experience: Experience, unused: () => number): Experience {
  const { active, agents, cuts, steps } = experience;
  const rows = (data: Float32Array): Float32Array => {
    const width = data.length / active.length;
    return data.map((value, i) => (active[Math.floor(i / width)] === 0 ? unused() : value));
  };
  // A cut is used by the agents that were playing until then and did not end by the rules.
  const isCutFor = (n: number, agent: number): boolean => {
    const row = (cuts.env[n] * steps + cuts.step[n]) * agents.length + agent;
    return active[row] === 1 && experience.terminated[row] === 0;
  };
  const view = cuts.observations['view'] as Float32Array;
  const width = view.length / (cuts.env.length * agents.length);
  const cutView = view.map((value, i) => {
    const row = Math.floor(i / width);
    return isCutFor(Math.floor(row / agents.length), row % agents.length) ? value : unused();
  });
  const agentOfMask = (i: number): number => active[Math.floor(i / experience.actionCount)];
  return {
    ...experience,
    masks: experience.masks.map((mask, i) => (agentOfMask(i) === 0 ? 1 - mask : mask)),
    actions: experience.actions.map((action, row) => (active[row] === 0 ? 2 - action : action)),
    observations: { view: rows(experience.observations['view'] as Float32Array) },
    rewards: rows(experience.rewards),
    extras: Object.fromEntries(
      Object.entries(experience.extras).map(([name, { data, shape }]) => [
        name,
        { data: rows(data as Float32Array), shape },
      ]),
    ),
    cuts: { ...cuts, observations: { view: cutView } },
  };
}

test('the game of these trials keeps the contract', async () => {
  expect(gameContract(leavingGame({ leaves: [2, 5, NEVER] }), { allocation: false })).toEqual([]);
});

describe('P19, M02: numbers of agents that do not play', () => {
  const game = leavingGame({ leaves: [2, NEVER, 5], maxSteps: 7 });

  /** Two updates by two learners that begin equal, the second one on changed experience. */
  async function both(make: (game: Game, ppo: PpoOptions) => PpoAgent[], change: () => number) {
    const results: { metrics: Metrics; state: SavedState }[] = [];
    for (const isChanged of [false, true]) {
      const agents = make(game, { minibatchSize: 16, sequenceLength: 5, epochs: 2 });
      const first = await collected(game, agents, 3, 10);
      const experience = isChanged ? withUnused(first, change) : first;
      await updated(agents, experience);
      // A second update, which begins with the states that the first left behind.
      const metrics = await updated(agents, experience);
      results.push({ metrics, state: await agents[0].learner.state() });
      agents[0].learner.dispose();
    }
    return results;
  }

  test.each(kinds)('random numbers or NaN there change nothing ($name)', { tags: ['slow'] }, async ({ make }) => {
    const generator = createGenerator(9);
    for (const change of [() => generator.normal() * 100, () => Number.NaN]) {
      const [plain, changed] = await both(make, change);
      expectFinite(changed.metrics);
      expect(changed.metrics).toEqual(plain.metrics);
      expect(changed.state).toEqual(plain.state);
    }
  });

  test('NaN in the rewards of those who left does not reach the others through a prosocial reward', async () => {
    const make = (): PpoAgent[] => game.agents.map((id) => ppoAgent({ game, id, network, reward: 'prosocial' }));
    const [plain, changed] = await both(make, () => Number.NaN);
    expect(changed.metrics).toEqual(plain.metrics);
  });

  test.each(kinds)('NaN in a step that was played is an error ($name)', async ({ make }) => {
    const agents = make(game, {});
    const experience = await collected(game, agents, 3, 20);
    const rewards = experience.rewards.slice();
    rewards[0] = Number.NaN; // agent 0, first step
    await expect(updated(agents, { ...experience, rewards })).rejects.toThrow(/expected finite .* NaN/);
  });

  test('the last step before leaving is learned from', async () => {
    const agents = game.agents.map((id) => ppoAgent({ game, id, network }));
    const experience = await collected(game, agents, 2, 7); // two whole episodes
    const metrics = await updated(agents, experience);
    // Agent 0 plays steps 0 and 1 of each, and earns 0 and 0.1.
    expect(metrics['data/rows']).toBe(4);
    expect(metrics['reward/max']).toBeCloseTo(0.1, 6);
    expect(metrics['reward/mean']).toBeCloseTo(0.05, 6);
  });
});

describe('M01, P20: recorded rows meet their own inputs, states and results', () => {
  const game = leavingGame({ leaves: [3, NEVER, 5, NEVER], maxSteps: 6 });
  const settings = { epochs: 1, minibatchSize: 10_000, valueClip: false as const };
  const networks = [
    { critic: 'own', recurrent: 0 },
    { critic: 'joint', recurrent: 0 },
    { critic: 'own', recurrent: 5 },
    { critic: 'joint', recurrent: 5 },
  ] as const;

  // In one minibatch before any step the network still is the one that acted and judged: the ratio of every row is 1,
  // and the loss of the critic is half the squared error of the values that were given when the rows were judged.
  // A row that met another one's input, mask, action, state, reset or return would show in both.
  describe.each(networks)('critic $critic, recurrent units $recurrent', (options) => {
    const makers = {
      own: () => game.agents.map((id) => ppoAgent({ game, id, network, ppo: settings, ...options })),
      shared: () =>
        sharedPpoAgents({ game, network, ppo: settings, inputs: { agentId: true, previousActions: true }, ...options }),
      'in sequences of 4': () =>
        sharedPpoAgents({
          game,
          network,
          ppo: { ...settings, sequenceLength: 4 },
          inputs: { previousActions: true },
          ...options,
        }),
    };
    test.each(Object.entries(makers))('%s', async (_, make) => {
      const agents = make();
      await prepare(agents);
      // Episodes of 6 steps in rollouts of 20: they end at many places of a sequence, and the second rollout begins
      // with the states that the first one left.
      const rollout = createRollout(vectorEnv(game, { envs: 3, seed: 3 }), agents, createGenerator(4));
      for (let i = 0; i < 3; i++) {
        const metrics = await updated(agents, await rollout.collect(20));
        expect(Math.abs(metrics['policy/approx_kl'])).toBeLessThan(1e-6);
        expect(metrics['policy/clip_fraction']).toBe(0);
        expect(metrics['value/loss'] / (metrics['value/mse'] / 2)).toBeCloseTo(1, 4);
        expect(metrics['value/target_variance'] / metrics['return/std'] ** 2).toBeCloseTo(1, 4);
      }
      agents[0].learner.dispose();
    });

    test('and a shift of the rows by one environment is seen', async () => {
      const agents = makers.shared();
      const experience = await collected(game, agents, 3, 8);
      const perEnv = experience.rewards.length / 3;
      const { data, shape } = experience.extras['logProbs'];
      const shifted = Float32Array.from(data, (_, i) => data[(i + perEnv) % data.length]);
      const metrics = await updated(agents, {
        ...experience,
        extras: { ...experience.extras, logProbs: { data: shifted, shape } },
      });
      expect(metrics['policy/approx_kl']).toBeGreaterThan(1e-4);
    });
  });
});

test('P20: a recurrent critic goes on from one rollout to the next as if they were one', async () => {
  const game = leavingGame({ leaves: [3, NEVER], maxSteps: 6 });
  /** The sum of all values, in rollouts of so many steps; nothing is learned between them. */
  async function sumOfValues(steps: number): Promise<number> {
    const ppo: PpoOptions = { learningRate: 0, sequenceLength: 5, epochs: 1, minibatchSize: 10_000 };
    const agents = sharedPpoAgents({ game, network, recurrent: 5, critic: 'joint', ppo });
    await prepare(agents);
    const rollout = createRollout(vectorEnv(game, { envs: 3, seed: 3 }), agents, createGenerator(4));
    let sum = 0;
    for (let done = 0; done < 20; done += steps) {
      const metrics = await updated(agents, await rollout.collect(steps));
      sum += metrics['value/mean'] * metrics['data/rows'];
    }
    agents[0].learner.dispose();
    return sum;
  }
  const whole = await sumOfValues(20);
  expect(Math.abs(whole)).toBeGreaterThan(0.1);
  expect((await sumOfValues(10)) / whole).toBeCloseTo(1, 5);
  expect((await sumOfValues(5)) / whole).toBeCloseTo(1, 5);
});

test('M01: a central critic sees itself first, then the others in cyclic order, row by row', async () => {
  const game = leavingGame({ leaves: [NEVER, NEVER, NEVER], maxSteps: 6 });
  const agents = game.agents.map((id) => ppoAgent({ game, id, network }));
  const experience = await collected(game, agents, 2, 4);
  const view = experience.observations['view'];
  const encoder = jointEncoder(inputEncoder(game), 3);
  for (const seat of [0, 1, 2]) {
    const { vector } = encoder.encode(experienceRows(experience, seat));
    expect(vector.shape).toEqual([8, 9]);
    for (let row = 0; row < 8; row++) {
      const seen = Array.from(vector.data.subarray(row * 9, (row + 1) * 9));
      // Each view is [own index, the episode's number, step / 10], and the number is the same for all three.
      const number = view[row * 9 + NONCE];
      const step = Math.fround((row % 4) / 10);
      expect(seen).toEqual([0, 1, 2].flatMap((i) => [(seat + i) % 3, number, step]));
    }
  }
});
