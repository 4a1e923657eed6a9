import { createGenerator, createRollout, evaluate, externalGame, splitSeed, vectorEnv } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { episodeSeeds, outside } from '../../../test/outside';
import { clockGame } from './clock-game';

describe('an external game', () => {
  it('plays as the rules do that it hides: each episode is that of a batch with its seed', () => {
    const rules = clockGame({ maxSteps: 3 });
    const env = vectorEnv(outside(rules).game, { envs: 2, seed: 5 });
    const seeds = [0, 1].map((e) => episodeSeeds(splitSeed(5, e), 3));
    for (let episode = 0; episode < 3; episode++) {
      const alone = seeds.map((own) => vectorEnv(rules, { envs: 1, seed: own[episode] }));
      expect([...env.isFirst]).toEqual([1, 1]);
      expect([...env.previousActions]).toEqual([-1, -1]);
      for (let t = 0; t < 3; t++) {
        expect([...env.states]).toEqual([t, t]);
        expect([...env.observations['drawn']]).toEqual(alone.flatMap(({ observations }) => [...observations['drawn']]));
        env.step(Int32Array.of(0, 0));
        for (const one of alone) one.step(Int32Array.of(0));
        expect([...env.result.rewards]).toEqual(alone.flatMap(({ result }) => [...result.rewards]));
      }
      expect([...env.ended]).toEqual([1, 1]);
      expect([...env.finalObservations['step']]).toEqual([3, 3]);
      expect([...env.finalStates]).toEqual([3, 3]);
    }
  });

  it('is evaluated in a batch of its own, which is closed', async () => {
    const { game, calls } = outside(clockGame({ maxSteps: 3 }), 3);
    const agent = {
      id: game.agents[0],
      name: 'idle',
      initialState: () => null,
      act: ({ rows }: { rows: number }) => ({ actions: new Int32Array(rows), state: null }),
    };
    expect((await evaluate(game, [agent], { episodes: 6 })).lengthMean).toBe(3);
    expect(calls).toMatchObject({ opened: 1, closed: 1 });
    expect(new Set(calls.seeds).size).toBe(calls.seeds.length);
    const failing = { ...agent, act: () => Promise.reject(new Error('no')) };
    await expect(evaluate(game, [failing], { episodes: 6 })).rejects.toThrow('no');
    expect(calls).toMatchObject({ opened: 2, closed: 2 });
  });

  it('begins new episodes where a state is restored, whose seeds are new', () => {
    const { game, calls } = outside(clockGame({ maxSteps: 3 }));
    const env = vectorEnv(game, { envs: 2, seed: 1 });
    env.step(Int32Array.of(0, 0));
    const saved = env.state();
    env.restore(saved);
    const [first, second] = [0, 1].map((e) => episodeSeeds(splitSeed(1, e), 3));
    // The second seed of each was kept for the episode that would have come next.
    expect(calls.seeds).toEqual([first[0], second[0], first[2], second[2]]);
    expect([...env.states]).toEqual([0, 0]);
    env.restore(saved);
    expect(calls.seeds.slice(4)).toEqual([first[2], second[2]]);
  });

  it('refuses bad actions, layouts and a batch that was closed, before anything has changed', () => {
    const { game, calls } = outside(clockGame({ maxSteps: 3 }));
    const env = vectorEnv(game, { envs: 2 });
    expect(() => env.step(Int32Array.of(0, 9))).toThrow(/vectorEnv.step: expected an action from 0/);
    expect(() => env.reset({ envs: [2] })).toThrow(/environments from 0 to 1, got 2/);
    expect(() => env.reset({ layout: 'x' })).toThrow(/layout/);
    expect([...env.states]).toEqual([0, 0]);
    env.close?.();
    env.close?.();
    expect(calls.closed).toBe(1);
    expect(() => env.step(Int32Array.of(0, 0))).toThrow(/a batch that is open, got one that was closed/);
  });

  it('is recorded in rollouts', async () => {
    const { game } = outside(clockGame({ maxSteps: 3 }));
    const agent = {
      id: game.agents[0],
      name: 'idle',
      initialState: () => null,
      act: ({ rows }: { rows: number }) => ({ actions: new Int32Array(rows), state: null }),
    };
    const experience = await createRollout(vectorEnv(game, { envs: 1 }), [agent], createGenerator(0)).collect(4);
    expect([...(experience.states?.data ?? [])]).toEqual([0, 1, 2, 0]);
    expect([...(experience.cuts.states?.data ?? [])]).toEqual([3, 1]);
  });

  it('needs a number of environments and a function that opens them', () => {
    const { stateType: _, stateSize: __, ...description } = clockGame({});
    const make = (external: unknown) => externalGame({ ...description, external } as never);
    expect(() => make(undefined)).toThrow(/externalGame: description.external/);
    expect(() => make({ envs: 0, open() {} })).toThrow(/description.external.envs/);
    expect(() => make({ envs: 1 })).toThrow(/description.external.open/);
  });
});
