import { createGenerator } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import type { CoPlayerRows } from '@coplay/planning';
import { describe, expect, it } from 'vitest';
import { stepLikelihoods } from './likelihoods';

const game = stagHunt({ size: 3, agents: 3, stags: 1, hares: 1 });
const K = game.actions;

describe('stepLikelihoods', () => {
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

  it('asks nothing where nobody did anything', async () => {
    const nobody = Int32Array.of(-1, 4, -1);
    const step = { states: new Int32Array(game.stateSize), actions: nobody, previousActions: nobody };
    const found = await stepLikelihoods(game, 1, 2, step, () => Promise.reject(new Error('asked')));
    expect([...found]).toEqual([1, 1, 1, 1, 1, 1]);
  });
});
