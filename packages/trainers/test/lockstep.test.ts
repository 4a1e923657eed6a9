import { evaluate, type Metrics, type NamedArrays } from '@coplay/core';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { type PpoAgent, type PpoOptions, ppoAgent, type SelfPlayOptions, selfPlay } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { NEVER, network, ownNetwork } from './field-helpers';
import { leavingGame } from './leaving-game';

type AgentOptions = Omit<Parameters<typeof ppoAgent>[0], 'game' | 'id' | 'executor'>;
type Settings = Pick<SelfPlayOptions, 'game' | 'envs' | 'steps'>;

// Learners that run eagerly are never put together: each does its own updates, one operation after the other.
const apart = 'eager';

/** Parameters by agent and metrics by update, of agents with weights of their own. */
async function trained(
  settings: Settings,
  executor: 'auto' | 'eager',
  optionsOf: (seat: number) => AgentOptions,
  updates = 2,
): Promise<{ params: NamedArrays[]; entries: Metrics[] }> {
  const { game, envs = 4, steps = 14 } = settings;
  const agents = game.agents.map((id, seat): PpoAgent => ppoAgent({ game, id, executor, ...optionsOf(seat) }));
  const entries: Metrics[] = [];
  const log = {
    start: () => {},
    close: () => {},
    write: ({ metrics }: { metrics: Metrics }) => void entries.push(metrics),
  };
  const run = selfPlay({ game, agents, envs, steps, seed: 2, log: [log] });
  await run.train({ envSteps: updates * envs * steps });
  const params = await Promise.all(agents.map((agent) => agent.learner.parameters()));
  run.dispose();
  return { params, entries };
}

/** The largest difference between two sets of parameters. */
function distance(a: NamedArrays, b: NamedArrays): number {
  const names = Object.keys(a);
  expect(Object.keys(b)).toEqual(names);
  const distances = names.flatMap((name) => Array.from(a[name].data, (x, i) => Math.abs(x - b[name].data[i])));
  expect(distances.every(Number.isFinite)).toBe(true);
  return Math.max(...distances);
}

function expectSame(together: readonly NamedArrays[], alone: readonly NamedArrays[]): void {
  const distances = together.map((params, seat) => distance(params, alone[seat]));
  expect(Math.max(...distances), `by agent: ${distances}`).toBeLessThan(1e-5);
}

// A larger epsilon than usual: Adam would blow up the rounding of gradients that cancel, which differs between
// executors.
const ppo: PpoOptions = { learningRate: 0.003, adamEpsilon: 1e-3, epochs: 2, minibatchSize: 16 };

beforeAll(async () => {
  await useBackend('wasm');
});

describe('PPO agents with weights of their own learn together what they learn alone', () => {
  // In 2 episodes of 7 steps in 4 environments they are there for 16, 40, 56 and 56 steps: 1, 3, 4 and 4 minibatches.
  const leaving = leavingGame({ leaves: [2, 5, NEVER, NEVER] });
  const byDivergence = 'other numbers of epochs, by their divergence';
  const kinds: Record<string, AgentOptions> = {
    'feedforward networks': { network, ppo },
    'recurrent networks': { network, recurrent: 4, ppo: { ...ppo, minibatchSize: 14, sequenceLength: 7 } },
    'a joint critic of normalised returns': { network, critic: 'joint', ppo: { ...ppo, normaliseValues: true } },
    [byDivergence]: { network, ppo: { ...ppo, epochs: 4, targetKl: 1e-3 } },
  };

  it.each(Object.keys(kinds))('%s', { tags: ['slow'] }, async (kind) => {
    const options = () => kinds[kind];
    const together = await trained({ game: leaving }, 'auto', options);
    const alone = await trained({ game: leaving }, apart, options);
    expectSame(together.params, alone.params);
    const rows = leaving.agents.map((id) => together.entries[0][`${id}/data/rows`]);
    expect(rows).toEqual([16, 40, 56, 56]);
    const epochs = leaving.agents.map((id) => together.entries[0][`${id}/policy/epochs`]);
    expect(new Set(epochs).size > 1).toBe(kind === byDivergence);
    expect(distance(together.params[0], together.params[1])).toBeGreaterThan(0.01); // each its own
  });

  it('where one has nothing to learn from', async () => {
    // In the second rollout the first agent is gone.
    const settings = { game: leavingGame({ leaves: [2, NEVER, NEVER, NEVER], maxSteps: 8 }), envs: 8, steps: 4 };
    const options = () => ({ network, ppo });
    const [first, second] = [await trained(settings, 'auto', options, 1), await trained(settings, 'auto', options)];
    const alone = await trained(settings, apart, options);
    expect(second.entries.map((metrics) => metrics['agent_0/data/rows'])).toEqual([16, 0]);
    expect(second.params[0]).toEqual(first.params[0]);
    expect(distance(second.params[1], first.params[1])).toBeGreaterThan(1e-3);
    expectSame(second.params, alone.params);
  });

  it('where they differ in options, those of one kind together', async () => {
    const options = (seat: number): AgentOptions => ({
      network: seat === 3 ? mlp({ hidden: [5] }) : network,
      ppo: { ...ppo, learningRate: seat === 0 ? 0.001 : 0.003 },
    });
    const together = await trained({ game: leaving }, 'auto', options);
    const alone = await trained({ game: leaving }, apart, options);
    expectSame(together.params, alone.params);
    expect(together.params.map((params) => params['actor/body/0/bias'].shape)).toEqual([[8], [8], [8], [5]]);
  });

  it('where networks of their own have equal configs, each with its own network', { tags: ['slow'] }, async () => {
    const [low, high] = [ownNetwork(1), ownNetwork(5)];
    const options = (seat: number): AgentOptions => ({ network: seat === 0 ? low : high, ppo });
    const together = await trained({ game: leaving }, 'auto', options);
    const alone = await trained({ game: leaving }, apart, options);
    expectSame(together.params, alone.params);
  });
});

describe('agents that were in a run together', () => {
  it('go on, when others of them have gone to another run or were restored', async () => {
    const game = leavingGame({ leaves: [NEVER, NEVER, NEVER] });
    const agents = () => game.agents.map((id) => ppoAgent({ game, id, network, ppo }));
    const [first, second] = [agents(), agents()];
    const settings = { game, envs: 2, steps: 7 };
    for (const all of [first, second]) await selfPlay({ ...settings, agents: all }).train({ envSteps: 14 });
    const playing = () => evaluate(game, first, { episodes: 2, seed: 3 });
    const before = await playing();
    await selfPlay({ ...settings, agents: [first[0], second[1], second[2]] }).evaluate({ episodes: 1 });
    expect(await playing()).toEqual(before);
    await first[1].learner.restore(await first[1].learner.state());
    expect(await playing()).toEqual(before);
    for (const agent of [...first, ...second]) agent.learner.dispose();
  });
});

describe('a run says which agents train in lockstep', () => {
  const game = leavingGame({ leaves: [NEVER, NEVER, NEVER, NEVER] });
  const groupsOf = async (optionsOf: (seat: number) => Partial<Parameters<typeof ppoAgent>[0]>) => {
    const agents = game.agents.map((id, seat) => ppoAgent({ game, id, network, ppo, ...optionsOf(seat) }));
    const run = selfPlay({ game, agents, envs: 2, steps: 7 });
    expect(run.lockstep).toEqual([]); // there are no networks yet
    await run.evaluate({ episodes: 1 });
    const { lockstep } = run;
    run.dispose();
    return lockstep;
  };

  it('those whose learners are of one kind', async () => {
    const narrow = mlp({ hidden: [5] });
    const groups = await groupsOf((seat) => ({ network: seat % 2 === 0 ? network : narrow }));
    expect(groups).toEqual([
      ['agent_0', 'agent_2'],
      ['agent_1', 'agent_3'],
    ]);
  });

  it("by the function, not by its config, where a network is of the user's own", async () => {
    const shared = ownNetwork(1);
    expect(await groupsOf((seat) => ({ network: seat < 2 ? shared : ownNetwork(2) }))).toEqual([
      ['agent_0', 'agent_1'],
    ]);
    expect(await groupsOf((seat) => ({ criticNetwork: seat < 2 ? shared : ownNetwork(2) }))).toEqual([
      ['agent_0', 'agent_1'],
    ]);
    const copied = ownNetwork(2, network.config);
    const groups = await groupsOf((seat) => (seat < 2 ? { network } : seat === 2 ? { network: copied } : {}));
    expect(groups).toEqual([['agent_0', 'agent_1', 'agent_3']]);
    expect(await groupsOf(() => ({ network: mlp({ hidden: [8] }) }))).toEqual([game.agents]);
    const critics = (seat: number) => (seat < 2 ? {} : { criticNetwork: network });
    expect(await groupsOf((seat) => ({ network: copied, ...critics(seat) }))).toEqual([
      ['agent_0', 'agent_1'],
      ['agent_2', 'agent_3'],
    ]);
  });

  it('and not those that run by themselves', async () => {
    const groups = await groupsOf((seat) => ({ ...(seat > 1 && { executor: 'eager' as const }) }));
    expect(groups).toEqual([['agent_0', 'agent_1']]);
  });
});
