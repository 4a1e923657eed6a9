import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGenerator, createRollout, evaluate, splitSeed, vectorEnv } from '@coplay/core';
import { randomAgent } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { gymnasium, type PythonGame, pettingZoo } from '@coplay/python';
import { useBackend } from '@coplay/tensor';
import { ppoAgent, selfPlay } from '@coplay/trainers';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { episodeSeeds } from '../../../test/outside';
import { pythonWith } from './python';

const FIXTURES = 'packages.python.test.fixtures.games';
beforeAll(() => useBackend('wasm'));
const open: PythonGame<never>[] = [];
/** A game that is closed after the test. */
function kept<G>(game: G): G {
  open.push(game as never);
  return game;
}
afterEach(() => {
  for (const game of open.splice(0)) game.close();
});

/** Seeds of the first episodes of environment `env` of a batch. */
const seedsOf = (seed: number, env: number, count: number) => episodeSeeds(splitSeed(seed, env), count);

const python = pythonWith('numpy', 'gymnasium');
python.describe('a game of the parallel API', () => {
  const make = () =>
    kept(pettingZoo(`${FIXTURES}:leavers`, { python: python.command, envs: 2, workers: 2, infos: ['time'] }));

  it('is described as its spaces say', () => {
    const game = make();
    expect(game.name).toBe('games-leavers');
    expect(game.agents).toEqual(['a', 'b', 'c']);
    expect(game.actions).toBe(4); // the most of 2, 3 and 4
    expect(game.maxSteps).toBe(9);
    expect(game.observation).toEqual({
      place: { shape: [3], dtype: 'float64', kind: 'vector' }, // the longest of 1, 2 and 3
      card: { shape: [], dtype: 'int32', kind: 'indices', classes: 4 },
      'pair.0': { shape: [3], dtype: 'uint8', kind: 'planes' },
      'pair.1': { shape: [2], dtype: 'int32', kind: 'indices', classes: 3 },
      picture: { shape: [2, 2, 1], dtype: 'uint8', kind: 'image', high: 255 },
    });
  });

  it('plays as Python does: observations, masks, agents that leave, infos, seeds', () => {
    const env = vectorEnv(make(), { envs: 2, seed: 7 });
    const seeds = [seedsOf(7, 0, 2), seedsOf(7, 1, 2)];
    const places = (env: { observations: Record<string, ArrayLike<number>> }) => Array.from(env.observations['place']);
    // Of each agent as many numbers as its space has; the rest is padding.
    const padded = (value: number) => [value, 0, 0, value, value, 0, value, value, value];
    expect(places(env)).toEqual([...padded(seeds[0][0] % 1000), ...padded(seeds[1][0] % 1000)]);
    // Of 2, 3 and 4 actions, number `time % count` isn't legal at first: 0.
    const first = [0, 1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1];
    expect(Array.from(env.masks)).toEqual([...first, ...first]);
    expect(Array.from(env.observations['card'])).toEqual([0, 1, 2, 0, 1, 2]); // counted from 0
    expect(Array.from(env.observations['pair.1'].subarray(0, 6))).toEqual([1, 0, 1, 1, 1, 2]);

    const actions = Int32Array.of(1, 2, 3, 0, 1, 2);
    env.step(actions);
    // The fixture's actions begin at 10, and its rewards are its actions.
    expect(Array.from(env.result.rewards)).toEqual([11, 12, 13, 10, 11, 12]);
    expect(Array.from(env.result.terminated)).toEqual([1, 0, 0, 1, 0, 0]);
    expect(Array.from(env.result.truncated)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(Array.from(env.active)).toEqual([0, 1, 1, 0, 1, 1]);
    expect(Array.from(env.result.infos['time'])).toEqual([1, 1, 1, 1, 1, 1]);
    expect(Array.from(env.previousActions)).toEqual([1, 2, 3, 0, 1, 2]);
    expect(Array.from(env.masks.subarray(0, 12))).toEqual([1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1]);
    expect(Array.from(env.states)).toEqual([1, 1]);

    env.step(actions);
    expect(Array.from(env.result.rewards)).toEqual([0, 12, 13, 0, 11, 12]);
    expect(Array.from(env.result.terminated)).toEqual([1, 1, 0, 1, 1, 0]);
    expect(Array.from(env.previousActions)).toEqual([-1, 2, 3, -1, 1, 2]);
    expect(Array.from(env.result.infos['time'])).toEqual([0, 2, 2, 0, 2, 2]);

    env.step(actions);
    expect(Array.from(env.ended)).toEqual([1, 1]);
    expect(Array.from(env.result.truncated)).toEqual([0, 0, 1, 0, 0, 1]);
    expect(Array.from(env.finalObservations['picture'].subarray(8, 12))).toEqual([103, 103, 103, 103]); // after step 3
    expect(Array.from(env.finalMasks.subarray(8, 12))).toEqual([1, 1, 1, 0]); // 3 % 4 isn't legal; c could go on
    expect(Array.from(env.finalStates)).toEqual([3, 3]);
    // The next episodes have begun, with seeds of their own.
    expect(places(env)).toEqual([...padded(seeds[0][1] % 1000), ...padded(seeds[1][1] % 1000)]);
    expect(Array.from(env.active)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(Array.from(env.isFirst)).toEqual([1, 1]);
    expect(Array.from(env.previousActions)).toEqual([-1, -1, -1, -1, -1, -1]);
  });

  it('begins chosen environments anew, and all of them where a state is restored', () => {
    const env = vectorEnv(make(), { envs: 2, seed: 1 });
    const actions = Int32Array.of(1, 2, 3, 0, 1, 2);
    env.step(actions);
    const saved = env.state();
    env.reset({ envs: [1], seed: 5 });
    expect(Array.from(env.states)).toEqual([1, 0]);
    expect(env.observations['place'][9]).toBe(seedsOf(5, 1, 1)[0] % 1000);
    expect(env.observations['place'][3]).toBeCloseTo((seedsOf(1, 0, 1)[0] % 1000) + 0.1, 9);
    env.restore(saved);
    expect(Array.from(env.isFirst)).toEqual([1, 1]);
    // The first two numbers of each generator were drawn before: for this episode and for the next one.
    expect(env.observations['place'][0]).toBe(seedsOf(1, 0, 3)[2] % 1000);
    expect(env.observations['place'][9]).toBe(seedsOf(1, 1, 3)[2] % 1000);
    expect(() => env.reset({ layout: '1.' })).toThrow(/option layout.*no layout/);
  });

  it('gives the same for any number of workers, and refuses actions by name', async () => {
    const collect = async (workers: number) => {
      const game = kept(pettingZoo(`${FIXTURES}:leavers`, { python: python.command, workers }));
      const agents = game.agents.map((id) => randomAgent({ game, id }));
      return createRollout(vectorEnv(game, { envs: 3, seed: 3 }), agents, createGenerator(1)).collect(8);
    };
    expect(await collect(1)).toEqual(await collect(2));
    const env = vectorEnv(open.at(-1) as unknown as PythonGame, { envs: 1 });
    expect(() => env.step(Int32Array.of(0, 1, 4))).toThrow(/an action from 0 to 3 for c in environment 0, got 4/);
  });
});

python.describe('a game of the AEC API', () => {
  it('plays one turn in a step; the others wait with one legal action', async () => {
    const game = kept(pettingZoo(`${FIXTURES}:turns`, { python: python.command, maxSteps: 3, workers: 1 }));
    expect(game.observation).toEqual({ observation: { shape: [1], dtype: 'float32', kind: 'vector' } });
    const env = vectorEnv(game, { envs: 1 });
    expect(Array.from(env.masks)).toEqual([1, 1, 1, 0]);
    env.step(Int32Array.of(1, 0)); // the first takes 2 of 3
    expect(Array.from(env.observations['observation'])).toEqual([1, 1]);
    expect(Array.from(env.masks)).toEqual([1, 0, 1, 0]); // the second can't take 2 of 1
    expect(Array.from(env.ended)).toEqual([0]);
    env.step(Int32Array.of(0, 0)); // the second takes the last
    expect(Array.from(env.result.rewards)).toEqual([-1, 1]);
    expect(Array.from(env.result.terminated)).toEqual([1, 1]);
    expect(Array.from(env.ended)).toEqual([1]);
    expect(Array.from(env.finalObservations['observation'])).toEqual([0, 0]);
    expect(Array.from(env.observations['observation'])).toEqual([3, 3]);
    env.reset();
    for (let i = 0; i < 2; i++) env.step(Int32Array.of(0, 0));
    expect(Array.from(env.ended)).toEqual([0]);
    env.step(Int32Array.of(0, 0)); // 1 + 1 + 1: over by the rules in the step of the limit
    expect(Array.from(env.result.terminated)).toEqual([1, 1]);
  });

  it('is cut by the option maxSteps', () => {
    const game = kept(pettingZoo(`${FIXTURES}:turns`, { python: python.command, maxSteps: 1, workers: 1 }));
    const env = vectorEnv(game, { envs: 1 });
    env.step(Int32Array.of(0, 0));
    expect(Array.from(env.ended)).toEqual([1]);
    expect(Array.from(env.result.truncated)).toEqual([1, 1]);
    expect(Array.from(env.finalMasks)).toEqual([1, 0, 1, 1]); // it was the second's turn, with 2 left
  });
});

const PENDULUM = `
import gymnasium, json, sys
import numpy as np
env = gymnasium.make('Pendulum-v1')
rows = []
observation, _ = env.reset(seed=int(sys.argv[1]))
for t in range(5):
    observation, reward, *_ = env.step(np.array([[-2.0, -0.5, 0.0, 1.25, 2.0][t]], np.float32))
    rows.append([*observation.tolist(), reward])
print(json.dumps(rows))
`;

python.describe('a game of Gymnasium', () => {
  it('plays step by step as in Python', () => {
    const game = kept(gymnasium<never>('Pendulum-v1', { python: python.command, workers: 1 }));
    expect(game.agents).toEqual(['agent_0']);
    expect(game.actions).toEqual({ kind: 'box', shape: [1], low: [-2], high: [2] });
    expect(game.maxSteps).toBe(200);
    const env = vectorEnv(game, { envs: 1, seed: 4 });
    const rows = [-2, -0.5, 0, 1.25, 2].map((torque) => {
      env.step(Float32Array.of(torque) as never);
      return [...env.observations['observation'], env.result.rewards[0]];
    });
    const expected = python.run(PENDULUM, String(seedsOf(4, 0, 1)[0])) as number[][];
    rows.flat().forEach((value, i) => void expect(value).toBeCloseTo(expected.flat()[i], 5));
  });
});

const SPREAD = `
import json, sys
from mpe2 import simple_spread_v3
env = simple_spread_v3.parallel_env(local_ratio=0.25)
episodes = []
for seed in map(int, sys.argv[1:]):
    observations, _ = env.reset(seed=seed)
    steps = [[observations[a].tolist() for a in env.agents]]
    rewards = []
    t = 0
    while env.agents:
        agents = list(env.agents)
        observations, reward, *_ = env.step({a: (t + i) % 5 for i, a in enumerate(agents)})
        steps.append([observations[a].tolist() for a in agents])
        rewards.append([reward[a] for a in agents])
        t += 1
    episodes.append({"observations": steps, "rewards": rewards})
print(json.dumps(episodes))
`;

const mpe = pythonWith('numpy', 'mpe2', 'pettingzoo');
mpe.describe('simple_spread', () => {
  it('plays step by step as in Python, over two episodes', async () => {
    const game = kept(
      pettingZoo('mpe2.simple_spread_v3', { python: mpe.command, workers: 1, options: { local_ratio: 0.25 } }),
    );
    const env = vectorEnv(game, { envs: 1, seed: 2 });
    const seeds = seedsOf(2, 0, 2);
    type Episode = { observations: number[][][]; rewards: number[][] };
    const episodes = mpe.run(SPREAD, ...seeds.map(String)) as Episode[];
    for (const { observations, rewards } of episodes) {
      expect(observations).toHaveLength(26);
      expect(Array.from(env.observations['observation'])).toEqual(observations[0].flat());
      rewards.forEach((reward, t) => {
        env.step(Int32Array.of(t % 5, (t + 1) % 5, (t + 2) % 5));
        const seen = t === 24 ? env.finalObservations : env.observations;
        expect(Array.from(seen['observation'])).toEqual(observations[t + 1].flat());
        expect(Array.from(env.result.rewards)).toEqual(reward.map(Math.fround));
      });
      expect(Array.from(env.result.truncated)).toEqual([1, 1, 1]);
    }
  });

  it('plays by turns too, with the same rewards', async () => {
    const options = { python: mpe.command, workers: 1, envs: 2 };
    const parallel = kept(pettingZoo('mpe2.simple_spread_v3', options));
    const turns = kept(pettingZoo('mpe2.simple_spread_v3', { ...options, api: 'aec' }));
    expect(turns.maxSteps).toBe(75); // 25 cycles of three agents
    const [a, b] = [vectorEnv(parallel, { envs: 1, seed: 1 }), vectorEnv(turns, { envs: 1, seed: 1 })];
    const sums = [new Float64Array(3), new Float64Array(3)];
    const add = (sum: Float64Array, rewards: Float32Array) => {
      for (const [i, value] of rewards.entries()) sum[i] += value;
    };
    for (let t = 0; t < 10; t++) {
      a.step(Int32Array.of(1, 2, 3));
      add(sums[0], a.result.rewards);
      for (let turn = 0; turn < 3; turn++) {
        expect(b.masks[turn * 5 + 1]).toBe(1);
        expect(b.masks[((turn + 1) % 3) * 5 + 1]).toBe(0);
        b.step(Int32Array.of(turn === 0 ? 1 : 0, turn === 1 ? 2 : 0, turn === 2 ? 3 : 0));
        add(sums[1], b.result.rewards);
      }
    }
    sums[1].forEach((sum, i) => void expect(sum).toBeCloseTo(sums[0][i], 4));
    expect(Array.from(b.observations['observation'])).toEqual(Array.from(a.observations['observation']));
  });

  it('is evaluated in environments of its own', async () => {
    const game = kept(pettingZoo('mpe2.simple_tag_v3', { python: mpe.command, envs: 2, options: { max_cycles: 5 } }));
    expect(game.observation['observation'].shape).toEqual([16]); // adversaries see 16 numbers, the prey 14
    const agents = game.agents.map((id) => randomAgent({ game, id }));
    const found = await evaluate(game, agents, { episodes: 4, seed: 1 });
    expect(found.lengthMean).toBe(5);
    expect(await evaluate(game, agents, { episodes: 4, seed: 1 })).toEqual(found);
  });
});

python.describe('self-play', () => {
  it('trains PPO, whose checkpoints go on in new episodes', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'coplay-python-'));
    const make = () => {
      const game = kept(pettingZoo(`${FIXTURES}:leavers`, { python: python.command, workers: 1, envs: 4 }));
      const agents = game.agents.map((id) => ppoAgent({ game, id, network: mlp({ hidden: [8] }) }));
      return selfPlay({ game, agents, steps: 6, seed: 1, directory, warn: () => undefined });
    };
    try {
      const first = make();
      await first.train({ envSteps: 48 });
      first.dispose();
      const second = make();
      expect(await second.resume()).toBe(true);
      await second.train({ envSteps: 72 });
      expect(second.updates).toBe(3);
      expect(second.episodes).toBe(24); // of three steps each
      second.dispose();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
