import { createGenerator, createRollout, type NamedArrays, vectorEnv } from '@coplay/core';
import { randomAgent } from '@coplay/envs';
import { useBackend } from '@coplay/tensor';
import { type PpoOptions, ppoAgent, selfPlay } from '@coplay/trainers';
import { beforeAll, describe, expect, test } from 'vitest';
import { changeParameter, expectFinite, kinds, NEVER, network, trained } from './field-helpers';
import { tinyGame } from './games';
import { leavingGame } from './leaving-game';

// Bugs that other projects had, tried on ours; the ids are those of the list of trials.

beforeAll(async () => {
  await useBackend('wasm');
});

describe('P05: minibatches of one row, constant advantages', () => {
  const game = tinyGame({ agents: 2, reward: () => 0 });
  const sizes = [
    { envs: 1, steps: 1, minibatchSize: 1 },
    { envs: 1, steps: 1, minibatchSize: 64 },
    { envs: 1, steps: 5, minibatchSize: 4 },
    { envs: 3, steps: 3, minibatchSize: 8 },
  ];
  const options: PpoOptions[] = [{}, { normaliseAdvantages: 'update' }, { normaliseValues: true }, { targetKl: 0.01 }];
  test.each(sizes)('$envs x $steps steps in minibatches of $minibatchSize', async ({ minibatchSize, ...size }) => {
    for (const ppo of options) {
      const agents = game.agents.map((id) => ppoAgent({ game, id, network, ppo: { ...ppo, minibatchSize } }));
      for (const metrics of await trained({ game, agents, ...size }, 2 * size.envs * size.steps)) expectFinite(metrics);
    }
  });

  test('rewards of 0 and a critic of 0: nothing is learned, and nothing is NaN', async () => {
    const [agent] = [ppoAgent({ game, id: 'agent_0', network, ppo: { entropyWeight: 0 } })];
    const other = randomAgent({ game, id: 'agent_1' });
    await agent.learner.initialise(createGenerator(5));
    const before = await changeParameter(agent.learner, 'critic/head/kernel', 0);
    const experience = await createRollout(vectorEnv(game, { envs: 2 }), [agent, other], createGenerator(1)).collect(8);
    const metrics = await agent.learner.update({ experience, progress: 0, generator: createGenerator(2) });
    expectFinite(metrics);
    expect([metrics['policy/loss'], metrics['value/mse']].map(Math.abs)).toEqual([0, 0]);
    expect((await agent.learner.state())['params']).toEqual(before);
  });
});

describe('P08: entropy under a mask', () => {
  /** The actor's parameters before and after an update, and its metrics. */
  async function update(legal: readonly number[], headScale: number, executor: 'auto' | 'eager') {
    const game = leavingGame({ leaves: [NEVER], legal: () => legal });
    const agent = ppoAgent({ game, id: 'agent_0', network, executor, ppo: { entropyWeight: 0.5, epochs: 1 } });
    await agent.learner.initialise(createGenerator(5));
    const before = await changeParameter(agent.learner, 'actor/head/kernel', headScale);
    const rollout = createRollout(vectorEnv(game, { envs: 4 }), [agent], createGenerator(1));
    const experience = await rollout.collect(7);
    const metrics = await agent.learner.update({ experience, progress: 0, generator: createGenerator(2) });
    const after = (await agent.learner.state())['params'] as unknown as NamedArrays;
    agent.learner.dispose();
    const actor = (record: NamedArrays): NamedArrays =>
      Object.fromEntries(Object.entries(record).filter(([name]) => name.startsWith('actor/')));
    return { metrics, before: actor(before), after: actor(after) };
  }

  describe.each(['auto', 'eager'] as const)('executor %s', (executor) => {
    test('one legal action: entropy 0 and no gradient', async () => {
      for (const scale of [1, 1e6]) {
        const { metrics, before, after } = await update([1], scale, executor);
        expectFinite(metrics);
        expect(metrics['policy/entropy']).toBeCloseTo(0, 12);
        expect(after).toEqual(before);
      }
    });

    test('equals the entropy over the legal actions alone', async () => {
      // A head of zeros makes all logits equal: entropy ln(number of legal actions).
      expect((await update([0, 2], 0, executor)).metrics['policy/entropy']).toBeCloseTo(Math.log(2), 5);
      expect((await update([0, 1, 2], 0, executor)).metrics['policy/entropy']).toBeCloseTo(Math.log(3), 5);
    });

    test('enormous logits stay finite', async () => {
      // The head's kernel starts at about 0.01: logits of about +-1e4.
      const { metrics, after } = await update([0, 2], 1e6, executor);
      expectFinite(metrics);
      for (const { data } of Object.values(after)) expect(data.every(Number.isFinite)).toBe(true);
    });
  });
});

describe('P09: no action is legal', () => {
  test('for an active agent: an error that names the environment, the agent and the step', async () => {
    const game = leavingGame({
      leaves: [NEVER, NEVER],
      legal: (agent, step) => (agent === 1 && step === 2 ? [] : [0, 1]),
    });
    const agents = game.agents.map((id) => ppoAgent({ game, id, network }));
    await expect(trained({ game, agents, envs: 2, steps: 4 }, 8)).rejects.toThrow(
      /leaving: expected a legal action for agent_1 in environment 0, step 2, got a mask of zeros/,
    );
  });

  test.each(kinds)('for one that has left: nothing happens ($name)', async ({ make }) => {
    const game = leavingGame({ leaves: [2, NEVER], legalAfterwards: [] });
    const entries = await trained({ game, agents: make(game, {}), envs: 2, steps: 10 }, 40);
    for (const metrics of entries) expectFinite(metrics);
  });
});

function expectClose(numbers: readonly number[], expected: (i: number) => number): void {
  for (const [i, number] of numbers.entries()) expect(number).toBeCloseTo(expected(i), 6);
}

describe('P17: the budget of steps', () => {
  const game = tinyGame({ agents: 1, reward: () => 1 });
  // 3 environments x 8 steps: a rollout of 24.
  const run = (rates: number[]) =>
    selfPlay({
      game,
      agents: [ppoAgent({ game, id: 'agent_0', network, ppo: { learningRate: { from: 0.1, to: 0 }, epochs: 1 } })],
      envs: 3,
      steps: 8,
      log: [
        { start: () => {}, close: () => {}, write: ({ metrics }) => void rates.push(metrics['policy/learning_rate']) },
      ],
    });

  test.each([
    [1, 1],
    [23, 1],
    [24, 1],
    [25, 2],
    [48, 2],
    [1000, 42],
  ])('train({ envSteps: %i }) makes %i rollouts', async (envSteps, rollouts) => {
    const rates: number[] = [];
    const training = run(rates);
    await training.train({ envSteps });
    expect([training.envSteps, training.updates]).toEqual([24 * rollouts, rollouts]);
    // 0.1 (1 - done / asked) before each rollout, never below 0.
    expectClose(rates, (i) => 0.1 * (1 - (24 * i) / envSteps));
    expect(Math.min(...rates)).toBeGreaterThan(0);
    training.dispose();
  });

  test('a second call goes on; one for what is done already does nothing', async () => {
    const rates: number[] = [];
    const training = run(rates);
    await training.train({ envSteps: 24 });
    await training.train({ envSteps: 24 });
    await training.train({ envSteps: 10 });
    expect(training.updates).toBe(1);
    await training.train({ envSteps: 96 });
    expect([training.envSteps, training.updates]).toEqual([96, 4]);
    expectClose(rates.slice(1), (i) => 0.1 * (1 - (24 * (i + 1)) / 96));
    training.dispose();
  });
});

describe('W05: no option is without effect', () => {
  // Rewards of up to 30 and episodes that end in a rollout's middle, so that every clip, delta and cut is in play.
  const game = tinyGame({
    agents: 1,
    actions: 3,
    reward: (_agent, action, cue) => 30 * (action === cue ? 1 : 0) + action,
  });
  const base: PpoOptions = { minibatchSize: 12, learningRate: 0.01, epochs: 2 };
  /** The parameters after three updates. */
  async function parameters(ppo: PpoOptions, networks: Partial<Parameters<typeof ppoAgent>[0]> = {}) {
    const agent = ppoAgent({ game, id: 'agent_0', network, ppo: { ...base, ...ppo }, ...networks });
    const run = selfPlay({ game, agents: [agent], envs: 3, steps: 10, seed: 2 });
    await run.train({ envSteps: 90 });
    const read = await agent.learner.parameters();
    run.dispose();
    return read;
  }

  const changes: PpoOptions[] = [
    { gamma: 0.5 },
    { lambda: 0.5 },
    { returns: 'monte-carlo' },
    { truncation: 'terminal' },
    { learningRate: 0.02 },
    { learningRate: { from: 0.01, to: 0 } },
    { entropyWeight: 0.5 },
    { valueWeight: 0.1 },
    { clip: 0.01 },
    { valueClip: false },
    { huberDelta: 1 },
    { normaliseValues: true },
    { normaliseAdvantages: 'update' },
    { normaliseAdvantages: false },
    { epochs: 3 },
    { minibatchSize: 6 },
    { clipNorm: false },
    { adamEpsilon: 0.1 },
    { targetKl: 1e-9 },
  ];
  test('of PPO', { tags: ['slow'] }, async () => {
    const plain = await parameters({});
    expect(await parameters({})).toEqual(plain);
    for (const ppo of changes) expect(await parameters(ppo), JSON.stringify(ppo)).not.toEqual(plain);
    // Advantages that are not normalised differ from those normalised once per update.
    const raw = await parameters({ normaliseAdvantages: false });
    expect(await parameters({ normaliseAdvantages: 'update' })).not.toEqual(raw);
    // lambda-returns are the same targets by another road.
    expect(Object.keys(await parameters({ returns: 'lambda' }))).toEqual(Object.keys(plain));
    const recurrent = await parameters({}, { recurrent: 4 });
    expect(await parameters({ sequenceLength: 5 }, { recurrent: 4 })).not.toEqual(recurrent);
  });

  test('before any step of an update, values lie within any clip around the old ones', async () => {
    const loss = async (ppo: PpoOptions): Promise<number[]> => {
      const agent = ppoAgent({ game, id: 'agent_0', network, ppo: { ...ppo, epochs: 1, minibatchSize: 1000 } });
      return (await trained({ game, agents: [agent], envs: 3, steps: 10, seed: 2 }, 60)).map(
        (metrics) => metrics['value/loss'],
      );
    };
    for (const normaliseValues of [false, true]) {
      const [first, second] = await loss({ normaliseValues, valueClip: false, learningRate: 0 });
      const clipped = await loss({ normaliseValues, valueClip: 1e-4, learningRate: 0 });
      expect(clipped[0]).toBeCloseTo(first, 4);
      expect(clipped[1]).toBeCloseTo(second, 4);
    }
  });
});
