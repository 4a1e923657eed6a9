import { type Agent, createGenerator, createRollout, ndarray, rulesSimulator, vectorEnv } from '@coplay/core';
import { randomAgent, stagHunt } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import type { MoaLearner } from '../moa';
import { hopPlusAgent, sharedHopPlusAgents } from './agent';
import { imaginationGate, imagineFrom } from './imagination';
import { resolveImagined } from './options';
import type { CoPlayerModels } from './setup';

const options = resolveImagined('test', { horizon: 8, startUpdates: 5, minAccuracy: 0.9, moaAccuracy: 0.4 });

describe('imaginationGate', () => {
  it('waits for the update and for the world model', () => {
    expect(imaginationGate(options, 4, 1, []).horizon).toBe(0);
    expect(imaginationGate(options, 5, 0.89, []).horizon).toBe(0);
    expect(imaginationGate(options, 5, 0.9, []).horizon).toBe(8);
    expect(imaginationGate(options, 4, 1, []).metrics).toEqual({ 'imagined/is_open': 0, 'imagined/horizon': 0 });
  });

  it('is as long as the worst model of a co-player is trusted', () => {
    expect(imaginationGate(options, 5, 1, [0.5, 0.4, 0.9]).horizon).toBe(8);
    expect(imaginationGate(options, 5, 1, [0.5, 0.2, 0.9]).horizon).toBe(4); // half of 0.4
    expect(imaginationGate(options, 5, 1, [0, 0.9]).horizon).toBe(0);
  });
});

describe('imagineFrom', () => {
  const game = stagHunt({ size: 4, agents: 3, stags: 1, hares: 3, maxSteps: 12 });
  const STAY = 4;

  /** A mark for each model, which it leaves in the extras, and the one goal that its co-player has shown. */
  const MODELS: Readonly<Record<string, { mark: number; goal: number }>> = {
    agent_0: { mark: 10, goal: 0 },
    agent_1: { mark: 11, goal: 1 },
    agent_2: { mark: 12, goal: 0 },
  };

  /** Models that note the goals with which they were asked. */
  function markedModels(goalsSeen: Map<string, Set<number>>): MoaLearner {
    const agent = (id: string): Agent<{ goals: Int32Array; memory: Float32Array }> => ({
      id,
      name: `model of ${id}`,
      initialState: (rows) => ({ goals: new Int32Array(rows), memory: new Float32Array(0) }),
      act(input, state) {
        for (const goal of state.goals) goalsSeen.get(id)?.add(goal);
        const mark = ndarray(new Int32Array(input.rows).fill(MODELS[id].mark));
        return { actions: new Int32Array(input.rows).fill(STAY), state, extras: { mark } };
      },
    });
    const prior = (id: string) => Float64Array.from([0, 1], (goal) => (goal === MODELS[id].goal ? 1 : 0));
    return { goals: 2, agent, prior, accuracy: () => 1, dispose: () => undefined } as unknown as MoaLearner;
  }

  it('plays each co-player by the model of that co-player, for every seat of the agent', {
    tags: ['slow'],
  }, async () => {
    const random = game.agents.map((id) => randomAgent({ game, id }));
    const env = vectorEnv(game, { envs: 8, seed: 1 });
    const experience = await createRollout(env, random, createGenerator(1)).collect(6);
    for (const [seat, id] of game.agents.entries()) {
      const { learner } = hopPlusAgent({ game, id, omg: false, worldModel: 'rules', executor: 'eager' });
      await learner.initialise(createGenerator(2));
      const goalsSeen = new Map(game.agents.map((name) => [name, new Set<number>()]));
      (learner.setup.coPlayerModels as Map<number, CoPlayerModels>).set(seat, { moa: markedModels(goalsSeen) });
      // uniformGoals 0: goals are drawn by what each co-player has shown.
      const parts = {
        learner,
        simulator: rulesSimulator(game),
        options: resolveImagined('test', { uniformGoals: 0 }),
        progress: 0,
      };
      const imagined = await imagineFrom(parts, experience, seat, 4, createGenerator(3));
      const { active, extras } = imagined!;
      const marks = (other: number) => {
        const rows = Array.from(active.keys()).filter((row) => row % 3 === other && active[row] === 1);
        return new Set(rows.map((row) => extras['mark'].data[row]));
      };
      for (const [other, name] of game.agents.entries()) {
        if (other === seat) continue;
        expect(marks(other)).toEqual(new Set([MODELS[name].mark]));
        expect(goalsSeen.get(name)).toContain(MODELS[name].goal);
      }
      expect(goalsSeen.get(id)?.size).toBe(0);
      learner.dispose();
    }
  });

  it('gives each policy the priors of its own seat, and copies of it equally likely goals', async () => {
    const random = game.agents.map((id) => randomAgent({ game, id }));
    const experience = await createRollout(vectorEnv(game, { envs: 2, seed: 1 }), random, createGenerator(1)).collect(
      4,
    );
    const size = 4; // two co-players with two goals
    const data = Float32Array.from({ length: 8 * 3 * size }, (_, i) => (Math.floor(i / size) % 3) / 8); // by seat
    const goalPriors = { data, shape: [2, 4, 3, size] };
    const modules = { moa: false, omg: false, worldModel: 'rules', goalPriors: true } as const;
    const ids = ['agent_0', 'agent_2'];
    const [{ learner }] = sharedHopPlusAgents({ game, ids, ...modules, executor: 'eager' });
    await learner.initialise(createGenerator(2));
    const read = new Set<string>();
    const { policy } = learner.ppo;
    const noted: typeof policy = {
      ...policy,
      act: (input, seat, state, extras) => {
        for (const prior of extras!['goalPriors'].data) read.add(`${seat} reads ${prior}`);
        return policy.act(input, seat, state, extras);
      },
    };
    Object.assign(learner.ppo, { policy: noted });
    const parts = { learner, simulator: rulesSimulator(game), options: resolveImagined('test', {}), progress: 0 };
    await imagineFrom(parts, { ...experience, extras: { goalPriors } }, 0, 2, createGenerator(3));
    expect([...read].sort()).toEqual(['0 reads 0', '1 reads 0.5', '2 reads 0.25']);
    learner.dispose();
  });
});
