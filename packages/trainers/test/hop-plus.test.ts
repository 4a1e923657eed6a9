import {
  createGenerator,
  createRollout,
  type Experience,
  type Metrics,
  type SavedState,
  vectorEnv,
} from '@coplay/core';
import { randomAgent, stagHunt } from '@coplay/envs';
import { conv, mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { type HopPlusModules, hopPlusAgent, ppoAgent, selfPlay, sharedHopPlusAgents } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 5, maxSteps: 8 });
const small: Required<Omit<HopPlusModules, 'treeSearch' | 'goalPriors'>> = {
  worldModel: { stepsPerUpdate: 2, batchSize: 16 },
  imagined: { startUpdates: 0, minAccuracy: 0, moaAccuracy: 1e-6, horizon: 3, ratio: 2 },
  moa: {
    network: conv({ filters: [4], dense: 8 }),
    minRows: 1,
    minibatchSize: 32,
    capacity: 64,
    goalDiscount: 0.1,
    learningRate: 0.05,
  },
  omg: { goalDim: 2, hidden: [8], stateUnits: 4, historyUnits: 6, vaeUpdates: 1, vaeSteps: 2, vaeBatchSize: 8 },
};
const ppo = { minibatchSize: 64, epochs: 2, realRatio: 0.5, learningRate: 1e-2 };
const network = mlp({ hidden: [8] });

beforeAll(async () => {
  await useBackend('wasm');
});

type More = { readonly seed?: number; readonly ppo?: object; readonly executor?: 'eager'; readonly envs?: number };

function run(modules: HopPlusModules, more: More = {}) {
  const kept: Metrics[] = [];
  const log = [
    { start: () => {}, close: () => {}, write: ({ metrics }: { metrics: Metrics }) => void kept.push(metrics) },
  ];
  const executor = more.executor ?? ('auto' as const);
  const settings = { game, network, executor, ppo: { ...ppo, ...more.ppo }, ...small, ...modules };
  const agents = game.agents.map((id) => hopPlusAgent({ ...settings, id }));
  return { play: selfPlay({ game, agents, envs: more.envs ?? 4, steps: 8, seed: more.seed ?? 1, log }), agents, kept };
}

const STEPS = 4 * 8;
const parametersOf = async ({ agents }: ReturnType<typeof run>) => agents[0].learner.ppo.parameters();

describe('hopPlusAgent', () => {
  it('learns from real and imagined experience, and its models from real experience alone', {
    tags: ['slow'],
  }, async () => {
    const { play, agents, kept } = run({});
    for (let update = 1; update <= 3; update++) await play.train({ envSteps: update * STEPS });
    for (const metrics of kept) {
      expect(metrics['agent_0/imagined/horizon']).toBe(3);
      expect(metrics['agent_0/data/imagined_rows']).toBeGreaterThan(0);
      expect(metrics['agent_0/data/real_rows']).toBeLessThanOrEqual(STEPS);
    }
    const { worldModel } = agents[0].learner.setup;
    if (typeof worldModel !== 'object') throw new Error('no model');
    expect(worldModel.store.pushed).toBe(3 * STEPS); // somebody is always playing: episodes end when nobody is left
    const { learner } = agents[0];
    expect(learner.updates).toBe(3);
    play.dispose();
  });

  it('warns once where imagination still waits for the world model after a quarter of the training', {
    tags: ['slow'],
  }, async () => {
    const warnings = async (minAccuracy: number) => {
      const lines: string[] = [];
      const imagined = { ...(small.imagined as object), minAccuracy, horizon: 1 };
      const worldModel = { stepsPerUpdate: 1, batchSize: 4 };
      const modules = { ...small, worldModel, moa: false, omg: false, imagined } as const;
      const agent = hopPlusAgent({ game, id: 'agent_0', network, executor: 'eager', ppo, ...modules });
      const agents = [agent, randomAgent({ game, id: 'agent_1' })];
      const play = selfPlay({ game, agents, envs: 1, steps: 2, seed: 1, warn: (line) => void lines.push(line) });
      await play.train({ envSteps: 13 * 2 });
      play.dispose();
      return lines;
    };
    const [line, ...others] = await warnings(1);
    expect(others).toEqual([]);
    expect(line).toMatch(/^HOP\+ \(agent_0\): after 10 updates the accuracy of the world model is 0\.\d\d, /);
    expect(line).toContain('and imagination (imagined.minAccuracy 1) still waits for it.');
    expect(await warnings(0)).toEqual([]);
  });

  const off: Record<string, HopPlusModules> = {
    'no world model, nothing imagined': { worldModel: false, imagined: false },
    'the rules as the world model': { worldModel: 'rules' },
    'no MOA': { moa: false },
    'no OMG': { omg: false },
    'nothing but PPO': { worldModel: false, imagined: false, moa: false, omg: false },
    'selected subgoals': { omg: { ...(small.omg as object), vaeUpdates: 0, epsilon: 1 } },
    'the most probable steps': { imagined: { ...(small.imagined as object), sample: false } },
    'a shorter horizon': { imagined: { ...(small.imagined as object), horizon: 1 } },
    'more imagination': { imagined: { ...(small.imagined as object), ratio: 3 } },
    'a later start': { imagined: { ...(small.imagined as object), startUpdates: 2 } },
    'doubt about the co-players': { imagined: { ...(small.imagined as object), moaAccuracy: 0.45 } },
  };
  it('changes what is learned with every switch and number of its own (W05)', {
    tags: ['learning'],
    timeout: 300_000,
  }, async () => {
    const learned = async (modules: HopPlusModules, changed: object = {}) => {
      // No graph is worth making for three updates.
      const one = run(modules, { ppo: changed, executor: 'eager', envs: 2 });
      await one.play.train({ envSteps: 3 * 16 });
      const parameters = await parametersOf(one);
      one.play.dispose();
      return JSON.stringify(Object.values(parameters).map(({ data }) => [...data]));
    };
    const base = await learned({});
    expect(await learned({})).toBe(base);
    const seen = new Map([[base, 'all modules']]);
    for (const [name, modules] of Object.entries(off)) {
      const result = await learned(modules);
      expect(`${name} equals ${seen.get(result) ?? 'nothing'}`).toBe(`${name} equals nothing`);
      seen.set(result, name);
    }
    // A model that nothing is imagined with teaches the policy nothing, and nothing is imagined behind a shut gate.
    const unimagined = await learned({ imagined: false });
    expect(seen.get(unimagined)).toBe('no world model, nothing imagined');
    expect(await learned({ imagined: { ...(small.imagined as object), minAccuracy: 1 } })).toBe(unimagined);
    expect(await learned({}, { realRatio: 1 })).toBe(unimagined);
    for (const changed of [
      { imaginedCritic: 'real-only' },
      { imaginedCritic: 'zero-imagined-reward' },
      { imaginedActor: 'real-only' },
    ]) {
      const result = await learned({}, changed);
      expect(`${JSON.stringify(changed)} equals ${seen.get(result) ?? 'nothing'}`).toMatch(/nothing$/);
    }
  });

  it('goes on to the bit after a save, with everything it remembers (L01)', { tags: ['slow'] }, async () => {
    const whole = run({});
    await whole.play.train({ envSteps: 4 * STEPS });
    const first = run({});
    await first.play.train({ envSteps: 2 * STEPS });
    const saved = structuredClone(await first.play.state()) as SavedState;
    const second = run({}, { seed: 7 });
    await second.play.restore(saved);
    await second.play.train({ envSteps: 4 * STEPS });
    // Schedules end where train() ends: here none is annealed.
    expect(await parametersOf(second)).toEqual(await parametersOf(whole));
    for (const { play } of [whole, first, second]) play.dispose();
  });

  it('imagines with the subgoals of the moment, never with zeros in their place (field note 1)', {
    tags: ['slow'],
  }, async () => {
    const { play, agents } = run({});
    await play.train({ envSteps: 2 * STEPS });
    const { learner } = agents[0];
    const experience = await collected(agents);
    const seen: Experience[] = [];
    const update = learner.ppo.update.bind(learner.ppo);
    learner.ppo.update = (data) => {
      seen.push(...(data.imagined ?? []));
      return update(data);
    };
    await learner.update({ experience, progress: 0.5, generator: createGenerator(3) });
    expect(seen).toHaveLength(1);
    const { extras, active, cuts, isImagined } = seen[0];
    expect([...isImagined]).not.toContain(0);
    const size = learner.coPlayerModelsOf(0).omg!.subgoalSize;
    let together = 0;
    for (let row = 0; row < active.length; row += 2) {
      if (active[row] === 0 || active[row + 1] === 0) continue; // zeros stand for a co-player that has left
      together++;
      for (let i = 0; i < size; i++) expect(extras['subgoals'].data[row * size + i]).not.toBe(0);
    }
    expect(together).toBeGreaterThan(5);
    expect(cuts.extras?.['subgoals'].shape).toEqual([cuts.env.length, 2, size]);
    play.dispose();
  });

  it('lets the critic read at a cut what the agent infers there itself one step later', {
    tags: ['slow'],
  }, async () => {
    const { play, agents } = run({ imagined: false });
    await play.train({ envSteps: STEPS });
    const env = vectorEnv(game, { envs: 4, seed: 4 });
    const rollout = createRollout(env, agents, createGenerator(5));
    const first = await rollout.collect(3);
    const next = await rollout.collect(1);
    let completed: Experience | undefined;
    const { learner } = agents[0];
    const values = learner.ppo.values.bind(learner.ppo);
    learner.ppo.values = (x) => {
      completed = x;
      return values(x);
    };
    await learner.update({ experience: first, progress: 0, generator: createGenerator(6) });
    const size = learner.coPlayerModelsOf(0).omg!.subgoalSize;
    let compared = 0;
    completed!.cuts.env.forEach((e, n) => {
      if (completed!.cuts.step[n] !== 2 || first.ended[e * 3 + 2] === 1 || next.active[e * 2] === 0) return;
      for (let i = 0; i < size; i++) {
        const atCut = completed!.cuts.extras!['subgoals'].data[n * 2 * size + i];
        expect(atCut).toBeCloseTo(next.extras['subgoals'].data[e * 2 * size + i] as number, 5);
        compared++;
      }
    });
    expect(compared).toBeGreaterThan(4);
    play.dispose();
  });

  it('is taught nothing by what the others earn, and does not depend on the order of a list', {
    tags: ['slow'],
  }, async () => {
    const learned = async (change: (x: Experience) => Experience) => {
      const { play, agents } = run({ imagined: false, omg: false });
      await play.train({ envSteps: STEPS });
      const { learner } = agents[0];
      await learner.update({ experience: change(await collected(agents)), progress: 0, generator: createGenerator(1) });
      const parameters = await learner.ppo.parameters();
      play.dispose();
      return parameters;
    };
    const base = await learned((x) => x);
    const others = await learned((x) => ({ ...x, rewards: x.rewards.map((r, row) => (row % 2 === 1 ? r + 5 : r)) }));
    const own = await learned((x) => ({ ...x, rewards: x.rewards.map((r, row) => (row % 2 === 0 ? r + 5 : r)) }));
    expect(others).toEqual(base);
    expect(own).not.toEqual(base);
  });

  it('works alone (M12)', async () => {
    const lonely = stagHunt({ size: 3, agents: 1, stags: 0, hares: 2, maxSteps: 6 });
    const agent = hopPlusAgent({ game: lonely, id: 'agent_0', network, ppo, ...small });
    const play = selfPlay({ game: lonely, agents: [agent], envs: 4, steps: 6, seed: 1 });
    await play.train({ envSteps: 3 * 24 });
    expect(agent.learner.updates).toBe(3);
    const parameters = Object.values(await agent.learner.ppo.parameters());
    expect(parameters.every(({ data }) => (data as Float32Array).every(Number.isFinite))).toBe(true);
    play.dispose();
  });

  it('shares a policy where asked, and each agent keeps a mind of its own', { tags: ['slow'] }, async () => {
    const agents = sharedHopPlusAgents({ game, network, ppo, ...small });
    const play = selfPlay({ game, agents, envs: 4, steps: 8, seed: 1 });
    await play.train({ envSteps: 3 * STEPS });
    const [{ learner }] = agents;
    expect(agents[1].learner).toBe(learner);
    expect(learner.coPlayerModelsOf(0).moa!.coPlayers).toEqual(['agent_1']);
    expect(learner.coPlayerModelsOf(1).moa!.coPlayers).toEqual(['agent_0']);
    play.dispose();
  });

  it('refuses a state that was saved with other modules, before anything has changed', { tags: ['slow'] }, async () => {
    const [some, all] = [run({ moa: false, worldModel: 'rules' }), run({})];
    for (const { play } of [some, all]) await play.train({ envSteps: STEPS });
    const before = await parametersOf(all);
    const saved = await some.agents[0].learner.state();
    await expect(all.agents[0].learner.restore(saved)).rejects.toThrow(
      /without coPlayerModels\.agent_0\.moa, worldModel/,
    );
    expect(await parametersOf(all)).toEqual(before);
    for (const { play } of [some, all]) play.dispose();
  });

  it('refuses modules that need one that is off, and names them', () => {
    expect(() => run({ worldModel: false })).toThrow(/imagined.*a world model/s);
    expect(() => run({ imagined: { horizon: 0 } })).toThrow(/horizon/);
    expect(() => run({ imagined: { horizont: 3 } as object })).toThrow(/horizont/);
    expect(() => run({ omg: { epsilon: 2 } })).toThrow(/epsilon/);
    expect(() => run({ moa: true } as unknown as HopPlusModules)).toThrow(/moa.*options of createMoa/s);
    expect(() => run({ worldmodel: {} } as HopPlusModules)).toThrow(/worldmodel.*worldModel/s);
    expect(() => sharedHopPlusAgents({ game, ids: ['agent_0', 'agent_0'] })).toThrow(/ids.*different/s);
    expect(() => run({ moa: { capacity: 20 } })).toThrow(/capacity.*at least 24/s); // 8 steps, for 2 goals and none
    expect(() => hopPlusAgent({ game, id: 'agent0' })).toThrow(/hopPlusAgent.*id.*agent_0.*agent0/s);
    const recurrent = { game, id: 'agent_0', recurrent: 4 } as const;
    expect(() => hopPlusAgent(recurrent)).toThrow(/recurrent/);
  });
});

describe('PPO with imagined experience', () => {
  const agent = () => ppoAgent({ game, id: 'agent_0', network, ppo });
  async function updated(options: object, imaginedReward: number) {
    const learner = ppoAgent({ game, id: 'agent_0', network, ppo: { ...ppo, ...options } });
    await learner.learner.initialise(createGenerator(1));
    const other = ppoAgent({ game, id: 'agent_1', network });
    await other.learner.initialise(createGenerator(2));
    const experience = await collected([learner, other]);
    const made = { ...experience, isImagined: experience.isImagined.map(() => 1) };
    const imagined = [{ ...made, rewards: made.rewards.map(() => imaginedReward) }];
    await learner.learner.update({ experience, imagined, progress: 0, generator: createGenerator(3) });
    const parameters = await learner.learner.parameters();
    learner.learner.dispose();
    const part = (name: string) =>
      Object.fromEntries(Object.entries(parameters).filter(([key]) => key.startsWith(name)));
    return { actor: part('actor'), critic: part('critic') };
  }
  // Without a bound on the joint norm of the gradients, which would let one tell of the other.
  const free = { clipNorm: false, normaliseAdvantages: false };

  it('keeps imagined rewards from those who are taught by real ones only', { tags: ['slow'] }, async () => {
    const realOnly = { ...free, imaginedActor: 'real-only', imaginedCritic: 'real-only' };
    expect(await updated(realOnly, 3)).toEqual(await updated(realOnly, -8));
    const actor = { ...free, imaginedActor: 'real-only' };
    expect((await updated(actor, 3)).actor).toEqual((await updated(actor, -8)).actor);
    expect((await updated(actor, 3)).critic).not.toEqual((await updated(actor, -8)).critic);
    const critic = { ...free, imaginedCritic: 'real-only' };
    expect((await updated(critic, 3)).critic).toEqual((await updated(critic, -8)).critic);
    expect((await updated(critic, 3)).actor).not.toEqual((await updated(critic, -8)).actor);
  });

  it('takes imagined rewards for 0 in the critic alone with zero-imagined-reward', async () => {
    const zeroed = { ...free, imaginedCritic: 'zero-imagined-reward' };
    expect((await updated(zeroed, 3)).critic).toEqual((await updated(zeroed, 0)).critic);
    expect((await updated(zeroed, 3)).actor).not.toEqual((await updated(zeroed, 0)).actor);
  });

  it('refuses it for recurrent networks', async () => {
    const learner = ppoAgent({ game, id: 'agent_0', network, recurrent: 4, ppo });
    await learner.learner.initialise(createGenerator(1));
    const experience = await collected([learner, { ...agent(), id: 'agent_1' } as ReturnType<typeof agent>], 'agent_1');
    const imagined = [{ ...experience, isImagined: experience.isImagined.map(() => 1) }];
    await expect(
      learner.learner.update({ experience, imagined, progress: 0, generator: createGenerator(3) }),
    ).rejects.toThrow(/recurrent/);
  });
});

/** Eight steps of four games. */
async function collected(
  agents: readonly Parameters<typeof createRollout>[1][number][],
  fresh?: string,
): Promise<Experience> {
  const players = agents.map((agent) => (agent.id === fresh ? ppoAgent({ game, id: fresh, network }) : agent));
  for (const player of players)
    if ('learner' in player) await (player as ReturnType<typeof ppoAgent>).learner.initialise(createGenerator(9));
  return createRollout(vectorEnv(game, { envs: 4, seed: 2 }), players, createGenerator(4)).collect(8);
}
