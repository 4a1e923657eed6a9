import { createGenerator, vectorEnv } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import type { CoPlayerRows } from '@coplay/planning';
import { describe, expect, it } from 'vitest';
import { replaceByUniform, stepLikelihoods } from './goal-beliefs';

describe('stepLikelihoods', () => {
  const game = stagHunt({ size: 3, agents: 3, stags: 1, hares: 1 });
  const K = game.actions;

  it('is what the models gave what each co-player did, under each goal, in the state before', async () => {
    const states = new Int32Array(2 * game.stateSize);
    game.reset(states, 0, createGenerator(1));
    game.reset(states, game.stateSize, createGenerator(2));
    const asked: CoPlayerRows[] = [];
    // P(action k | seat s, goal g) = (1 + k + 10 s + 100 g) / 1000: no numbers of a policy, but each of them another.
    const ask = async (rows: CoPlayerRows) => {
      asked.push(rows);
      return Float32Array.from({ length: rows.rows * K }, (_, i) => {
        const row = Math.floor(i / K);
        return Math.log((1 + (i % K) + 10 * rows.seats[row] + 100 * rows.goals[row]) / 1000);
      });
    };
    // In game 0 seat 0 did 3 and seat 2 had left; in game 1 nothing was done yet. Seat 1 observes.
    const actions = Int32Array.of(3, 4, -1, -1, -1, -1);
    const previousActions = Int32Array.of(2, 2, -1, -1, -1, -1);
    const found = await stepLikelihoods(game, 1, 2, { states, actions, previousActions }, ask);
    const expected = [0.004, 0.104, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
    found.forEach((value, i) => void expect(value).toBeCloseTo(expected[i], 6));
    expect(asked).toHaveLength(1);
    expect([...asked[0].goals]).toEqual([0, 1]);
    expect([...asked[0].states]).toEqual([...states.slice(0, game.stateSize), ...states.slice(0, game.stateSize)]);
    expect([...asked[0].previousActions!]).toEqual([2, 2, -1, 2, 2, -1]);
  });

  it('asks about no goal that nobody could reach any more', async () => {
    const hunt = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 });
    const stateOf = (prey: object) => {
      const env = vectorEnv(hunt, { envs: 1, seed: 1 });
      const agents = [
        [0, 0],
        [2, 2],
      ];
      env.reset({ layout: { agents, stags: [], hares: [], ...prey } });
      return [...env.states];
    };
    // In the first game goal 1 is left, the hare; in the second goal 0, the stag.
    const states = Int32Array.from([...stateOf({ hares: [[1, 1]] }), ...stateOf({ stags: [[1, 1]] })]);
    const asked: CoPlayerRows[] = [];
    const ask = async (rows: CoPlayerRows) => {
      asked.push(rows);
      return Float32Array.from({ length: 2 * K }, (_, i) => Math.log(i < K ? 0.25 : 0.5));
    };
    const actions = Int32Array.of(1, 2, 1, 2);
    const step = { states, actions, previousActions: Int32Array.of(0, 0, 3, 3) };
    const found = await stepLikelihoods(hunt, 0, 2, step, ask);
    [1, 1, 1, 0.25, 1, 1, 0.5, 1].forEach((value, i) => void expect(found[i]).toBeCloseTo(value, 6));
    expect([...asked[0].goals]).toEqual([1, 0]);
    expect([...asked[0].seats]).toEqual([1, 1]);
    expect([...asked[0].states]).toEqual([...states]);
    expect([...asked[0].previousActions!]).toEqual([0, 0, 3, 3]);
  });

  it('asks nothing where nobody did anything', async () => {
    const nobody = Int32Array.of(-1, 4, -1);
    const step = { states: new Int32Array(game.stateSize), actions: nobody, previousActions: nobody };
    const found = await stepLikelihoods(game, 1, 2, step, () => Promise.reject(new Error('asked')));
    expect([...found]).toEqual([1, 1, 1, 1, 1, 1]);
  });
});

describe('replaceByUniform', () => {
  // One seat is the agent itself. Of the other two, one may pursue all three goals; the other can't reach the second
  // any more.
  const row = [0, 0, 0, 0.7, 0.2, 0.1, 0.9, 0, 0.1];
  const uniform = [0, 0, 0, 1 / 3, 1 / 3, 1 / 3, 0.5, 0, 0.5];

  it('makes open goals equally likely, in rows drawn with the chance', () => {
    const count = 1000;
    const generators = Array.from({ length: count }, (_, i) => createGenerator(i));
    const after = (chance: number) => {
      const beliefs = Float64Array.from({ length: count * 9 }, (_, i) => row[i % 9]);
      replaceByUniform(beliefs, generators, 3, chance);
      return Array.from({ length: count }, (_, i) => JSON.stringify([...beliefs.subarray(i * 9, i * 9 + 9)]));
    };
    expect(new Set(after(0))).toEqual(new Set([JSON.stringify(row)]));
    expect(new Set(after(1))).toEqual(new Set([JSON.stringify(uniform)]));
    const changed = after(0.25).filter((beliefs) => beliefs === JSON.stringify(uniform)).length;
    expect(Math.abs(changed - 250)).toBeLessThan(55); // four standard deviations
  });
});
