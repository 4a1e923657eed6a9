/** HOP+'s policy reads the inter-episode prior over its co-players' goals (`goalPriors`). */

import {
  type Agent,
  createGenerator,
  createRollout,
  type Experience,
  evaluate,
  type Game,
  type SavedState,
  vectorEnv,
} from '@coplay/core';
import { matrixGame, nearestHare, stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { type HopPlusAgent, type HopPlusModules, hopPlusAgent, selfPlay } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

beforeAll(async () => {
  await useBackend('wasm');
});

/** Goal 0 is the stag, which one hunter alone never catches; goal 1 a hare. */
const game = stagHunt({ size: 3, agents: 3, stags: 1, hares: 4, maxSteps: 10 });
const [FIRST, , LAST] = game.agents;
const off: HopPlusModules = { worldModel: false, imagined: false, moa: false, omg: false };
const network = mlp({ hidden: [8] });

/** Waits in its cell in each step. */
function waiter(id: string): Agent<null> {
  return {
    id,
    name: 'waiter',
    initialState: () => null,
    act: ({ rows }) => ({ actions: new Int32Array(rows).fill(4), state: null }),
  };
}

async function reader(modules: HopPlusModules = {}, of: Game = game): Promise<HopPlusAgent> {
  const agent = hopPlusAgent({ game: of, id: of.agents[1], network, ...off, goalPriors: true, ...modules });
  await agent.learner.initialise(createGenerator(1));
  return agent;
}

/** The reader in the middle, a hunter of hares in the first seat, and an agent that waits in the last one. */
function play(agent: HopPlusAgent, env = vectorEnv(game, { envs: 1, seed: 1 })) {
  const players = [waiter(LAST), agent, nearestHare({ game, id: FIRST }) as Agent];
  return createRollout(env, players, createGenerator(2));
}

/** What a seat reads in a step e T + t. */
function read({ extras, agents }: Pick<Experience, 'extras' | 'agents'>, step: number, seat = 1): number[] {
  const { data, shape } = extras['goalPriors'];
  return Array.from(
    data.subarray((step * agents.length + seat) * shape[3], (step * agents.length + seat + 1) * shape[3]),
  );
}

/** Counts after so many episodes that showed goal 1: S <- 0.995 S, H <- 0.995 H + 1; the prior is H / (S + H). */
function afterHares(episodes: number): number[] {
  const [S, H] = [[1, 0.995, 0.990025][episodes], [1, 1.995, 2.985025][episodes]];
  return [S / (S + H), H / (S + H)];
}

const close = (numbers: readonly number[], expected: readonly number[]) => {
  expect(numbers).toHaveLength(expected.length);
  for (const [i, value] of expected.entries()) expect(numbers[i]).toBeCloseTo(value, 6);
};

describe('goalPriors', () => {
  it('is refused with a joint critic, which would read priors that other agents may not have', () => {
    const joint = { id: game.agents[0], goalPriors: true, critic: 'joint' } as const;
    expect(() => hopPlusAgent({ game, network, ...off, ...joint })).toThrow(
      /option critic: expected 'own' with goalPriors/,
    );
  });

  it('are the counts of goals shown, in cyclic order from the own seat, and change between episodes only', async () => {
    const agent = await reader();
    const experience = await play(agent).collect(30);
    const episode = Array.from(experience.isFirst, () => 0);
    for (let t = 1; t < 30; t++) episode[t] = episode[t - 1] + experience.isFirst[t];
    expect(episode[29]).toBeGreaterThanOrEqual(2);
    for (let t = 0; t < 30 && episode[t] < 3; t++) {
      close(read(experience, t), [0.5, 0.5, ...afterHares(episode[t])]); // the last agent, then the first one
    }
    agent.learner.dispose();
  });

  it('are those of the start of the episode in each game, while all games share one memory', async () => {
    const agent = await reader();
    const env = vectorEnv(game, { envs: 2, seed: 1 });
    const rollout = play(agent, env);
    await rollout.collect(4);
    env.reset({ envs: [1] }); // from here on, episodes end in game 0 after steps 5 and 15, and in game 1 after step 9
    const experience = await rollout.collect(20);
    const changes = [0, 1].map((e) => {
      return Array.from({ length: 19 }, (_, t) => t + 1).filter((t) => {
        return read(experience, e * 20 + t).join() !== read(experience, e * 20 + t - 1).join();
      });
    });
    expect(changes).toEqual([[6, 16], [10]]);
    close(read(experience, 6), [0.5, 0.5, ...afterHares(1)]);
    close(read(experience, 20 + 10), [0.5, 0.5, ...afterHares(2)]); // one hare in each game
    agent.learner.dispose();
  });

  it('reach the policy: another prior gives other probabilities, and not without the option', async () => {
    const probabilities = async (modules: HopPlusModules) => {
      const agent = await reader(modules);
      const env = vectorEnv(game, { envs: 1, seed: 3 });
      const { rows, seen } = { rows: 1, seen: [] as number[][] };
      const input = {
        ...{ rows, observations: {}, masks: new Uint8Array(7).fill(1), active: Uint8Array.of(1) },
        ...{ isFirst: Uint8Array.of(1), previousActions: new Int32Array(3).fill(-1) },
      };
      const observations = Object.fromEntries(
        Object.entries(env.observations).map(([name, data]) => [
          name,
          data.slice(data.length / 3, (2 * data.length) / 3),
        ]),
      ) as typeof env.observations;
      for (let episodes = 0; episodes < 2; episodes++) {
        const { insight } = agent;
        const answer = await agent.act({ ...input, observations }, agent.initialState(1), createGenerator(1));
        const found = await insight!.call(agent, { ...input, observations }, agent.initialState(1), answer);
        seen.push(Array.from(found['policy'].data as Float32Array));
        const infos = { ...env.result.infos };
        const flags = Uint8Array.of(1, 1, 1);
        // The first agent catches a hare (action 6), and the episode ends.
        const step = { rows, actions: Int32Array.of(6, 4, 4), active: flags, rewards: new Float32Array(3), infos };
        agent.observe?.({ ...step, ended: Uint8Array.of(1), terminated: Uint8Array.of(1, 0, 0) });
      }
      agent.learner.dispose();
      return seen;
    };
    const [before, after] = await probabilities({});
    expect(after).not.toEqual(before);
    const [plain, same] = await probabilities({ goalPriors: false });
    expect(same).toEqual(plain);
  });

  it('are kept by save and restore, within an episode too, and by evaluate', async () => {
    const [agent, other] = [await reader(), await reader()];
    await play(agent).collect(14);
    const saved = structuredClone(agent.save!());
    other.restore!(saved);
    const goesOn = async (of: HopPlusAgent) => {
      const experience = await play(of).collect(20);
      return Array.from({ length: 20 }, (_, t) => read(experience, t));
    };
    await evaluate(game, [waiter(LAST), agent, waiter(FIRST)], { episodes: 3, seed: 1 });
    expect(agent.save!()).toEqual(saved);
    const expected = await goesOn(agent);
    expect(expected[0][3]).toBeGreaterThan(0.6);
    expect(await goesOn(other)).toEqual(expected);
    const held = { ...saved, held: new Float32Array(3) };
    expect(() => other.restore!(held)).toThrow(/HOP\+ \(agent_1\).*goalPriors.*held/);
    for (const { learner } of [agent, other]) learner.dispose();
  });

  it('are in imagined steps those of the step where imagination began', async () => {
    const agent = await reader({ worldModel: 'rules', imagined: { startUpdates: 0, horizon: 4, ratio: 4 } });
    const { learner } = agent;
    const experience = await play(agent, vectorEnv(game, { envs: 2, seed: 1 })).collect(24);
    const before = agent.save!();
    // Each step and seat has numbers of its own, so that an imagined episode shows where it began.
    const { shape } = experience.extras['goalPriors'];
    const marks = Float32Array.from({ length: 48 * 3 * 4 }, (_, i) => Math.floor(i / 4) / 256);
    const marked = { ...experience, extras: { ...experience.extras, goalPriors: { data: marks, shape } } };
    const imagined: Experience[] = [];
    const seen: Experience[] = [];
    const update = learner.ppo.update.bind(learner.ppo);
    learner.ppo.update = (data) => {
      seen.push(data.experience);
      imagined.push(...(data.imagined ?? []));
      return update(data);
    };
    await learner.update({ experience: marked, progress: 0, generator: createGenerator(3) });
    const [made] = imagined;
    expect(made.envs).toBeGreaterThan(40);
    const starts = new Set<number>();
    for (let row = 0; row < made.envs; row++) {
      const start = (256 * read(made, row * made.steps)[0] - 1) / 3; // of seat 1
      expect(start).toBe(Math.round(start));
      starts.add(start);
      const S = game.stateSize;
      const [first, real] = [made.states!, experience.states!].map(({ data }) => data);
      const began = first.slice(row * made.steps * S, (row * made.steps + 1) * S);
      expect(began).toEqual(real.slice(start * S, (start + 1) * S));
      for (let t = 0; t < made.lengths[row]; t++) {
        expect(read(made, row * made.steps + t)).toEqual(new Array(4).fill((3 * start + 1) / 256));
      }
    }
    expect(starts.size).toBeGreaterThan(20);
    expect(agent.save!()).toEqual(before); // nothing was learned of imagined goals
    // Critics read at a cut what the agent read in the step before it.
    for (const { cuts, steps, extras, agents } of [seen[0], made]) {
      expect(cuts.env.length).toBeGreaterThan(0);
      cuts.env.forEach((env, n) => {
        const atCut = { extras: { goalPriors: { ...cuts.extras!['goalPriors'], shape: [0, 0, 0, 4] } }, agents };
        expect(read(atCut, n)).toEqual(read({ extras, agents }, env * steps + cuts.step[n]));
      });
    }
    learner.dispose();
  });

  it('resume to the bit, with subgoals and a search', { tags: ['learning'] }, async () => {
    const small = stagHunt({ size: 3, agents: 2, stags: 1, hares: 3, maxSteps: 6 });
    const ppo = { minibatchSize: 32, epochs: 1, realRatio: 0.5, learningRate: 1e-2 }; // nothing is annealed
    const imagined = { startUpdates: 0, horizon: 2 };
    const omg = {
      goalDim: 2,
      hidden: [4],
      stateUnits: 4,
      historyUnits: 4,
      vaeUpdates: 1,
      vaeSteps: 1,
      vaeBatchSize: 8,
    };
    const treeSearch = { trees: 1, simulations: 2, target: 0.5, uniformGoals: 0 };
    const options = { game: small, network, ppo, ...off, goalPriors: true, imagined, omg, treeSearch };
    const make = (seed: number) => {
      const agents = small.agents.map((id) => hopPlusAgent({ ...options, worldModel: 'rules', id }));
      return { agents, run: selfPlay({ game: small, agents, envs: 4, steps: 8, seed }) };
    };
    const [whole, first, second] = [make(1), make(1), make(7)];
    await whole.run.train({ envSteps: 96 });
    await first.run.train({ envSteps: 64 });
    await second.run.restore(structuredClone(await first.run.state()) as SavedState);
    await second.run.train({ envSteps: 96 });
    const [expected, got] = await Promise.all([whole, second].map(({ agents }) => agents[0].learner.ppo.parameters()));
    expect(got).toEqual(expected);
    for (const { run } of [whole, first, second]) run.dispose();
  });

  it('are refused by name where goals are unknown', () => {
    const { goals: _, ...plain } = game;
    const refused = (of: Game) => () => hopPlusAgent({ game: of, id: of.agents[0], ...off, goalPriors: true });
    expect(refused(plain)).toThrow(/hopPlusAgent: option goalPriors.*a game with goals/);
    expect(refused(matrixGame())).toThrow(/option goalPriors.*a game with goals/);
    const partial = stagHunt({ size: 4, agents: 2, viewRadius: 1 });
    expect(refused(partial)).toThrow(/option goalPriors.*agents see the whole state/);
    const wrong = { game, id: FIRST, ...off, goalPriors: 1 } as unknown as Parameters<typeof hopPlusAgent>[0];
    expect(() => hopPlusAgent(wrong)).toThrow(/goalPriors/);
  });
});
