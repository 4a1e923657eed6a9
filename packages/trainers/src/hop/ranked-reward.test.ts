import { createGenerator, rulesSimulator } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { rankedReward, rankedSimulator } from './ranked-reward';

const generator = createGenerator(1);

describe('rankedReward', () => {
  it('is +1 above the percentile of the latest returns and -1 below it', () => {
    const ranks = rankedReward({ window: 4, percentile: 75 });
    expect(ranks.rank(3, generator)).toBe(0); // nothing to compare with
    for (const value of [9, 4, 1, 3, 2]) ranks.add(value); // 9 is the oldest of five, and gone
    // Of 1, 2, 3, 4 the 75 % percentile is the third, 3.
    expect(ranks.rank(3.5, generator)).toBe(1);
    expect(ranks.rank(2.5, generator)).toBe(-1);
  });

  it('is a coin where a return equals the percentile', () => {
    const ranks = rankedReward({ window: 4, percentile: 75 });
    for (let i = 0; i < 4; i++) ranks.add(0.1);
    const drawn = Array.from({ length: 1000 }, () => ranks.rank(0.1, generator));
    const mean = drawn.reduce((sum, value) => sum + value, 0) / 1000;
    expect(new Set(drawn)).toEqual(new Set([1, -1]));
    expect(Math.abs(mean)).toBeLessThan(0.13); // four standard deviations
  });

  it('goes on from where it was saved', () => {
    const ranks = rankedReward({ window: 2, percentile: 50 });
    for (const value of [1, 5]) ranks.add(value);
    const other = rankedReward({ window: 2, percentile: 50 });
    other.restore(ranks.state());
    expect(other.rank(3, generator)).toBe(1); // the median, number 1 of two, is 1
    other.add(7); // 1 goes
    expect(other.rank(3, generator)).toBe(-1);
  });
});

describe('rankedSimulator', () => {
  it('pays the rank of an agent in its last step, and nothing before', async () => {
    const game = stagHunt({ size: 3, agents: 2, stags: 0, hares: 1, maxSteps: 2 });
    const ranks = rankedReward({ window: 2, percentile: 50 });
    for (const value of [0.5, 0.5]) ranks.add(value);
    const simulator = rankedSimulator(rulesSimulator(game), ranks);
    const states = new Int32Array(game.stateSize);
    const result = {
      rewards: new Float32Array(2),
      terminated: new Uint8Array(2),
      truncated: new Uint8Array(2),
      infos: { illegal: new Float32Array(2) } as Record<string, Float32Array>,
    };
    for (const name of game.infos) result.infos[name] = new Float32Array(2);
    const play = async (actions: readonly number[]) => {
      await simulator.step(states, Int32Array.from(actions), generator, result);
      return [...result.rewards];
    };
    game.readLayout!(
      {
        agents: [
          [0, 0],
          [2, 2],
        ],
        stags: [],
        hares: [[2, 2]],
      },
      states,
      0,
    );
    expect(await play([4, 6])).toEqual([0, 1]); // a hare, 1 > 0.5, for the second agent; the first one plays on
    expect(await play([4, 0])).toEqual([-1, 0]); // the time limit, without a catch; the second one had left
  });
});
