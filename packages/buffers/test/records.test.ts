import { splitEpisodes } from '@coplay/buffers';
import { fromRecords, toRecords } from '@coplay/buffers/records';
import type { Experience } from '@coplay/core';
import { allocateCuts, allocateExperience } from '@coplay/core/arrays';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutsOf, play, survival } from './survival';

/** Two agents, three steps: agent 1 dies after step 1, agent 0 after step 2. Rewards 1, 2, 3 and 10, 20. */
function example(): Experience {
  const game = survival({ agents: 2, maxSteps: 9, deathRate: 0 });
  const cuts = allocateCuts(game, 1);
  cuts.step[0] = 2;
  cuts.observations['flag'].set([14, 24]);
  cuts.previousActions.set([1, -1]);
  const x: Experience = { ...allocateExperience(game, 1, 4), cuts };
  x.lengths[0] = 3;
  x.active.set([1, 1, 1, 1, 1, 0]);
  x.actions.set([1, 2, 2, 1, 1, 0]);
  x.previousActions.set([-1, -1, 1, 2, 2, 1]);
  x.rewards.set([1, 10, 2, 20, 3, 0]);
  x.terminated.set([0, 0, 0, 1, 1, 1]);
  x.isFirst[0] = 1;
  x.ended[2] = 1;
  x.observations['flag'].set([11, 21, 12, 22, 13, 23]);
  return x;
}

const column = (data: ArrayLike<number>, agent: number) => Array.from(data).filter((_, i) => i % 2 === agent);

describe('toRecords (W07)', () => {
  it('puts a reward next to the observation it arrived with, one record for each observation', () => {
    const records = toRecords(example());
    expect([records.records, [...records.lengths]]).toEqual([5, [4]]);
    expect(column(records.rewards, 0)).toEqual([0, 1, 2, 3, 0]);
    expect(column(records.rewards, 1)).toEqual([0, 10, 20, 0, 0]);
    expect(column(records.actions, 0)).toEqual([1, 2, 1, 0, 0]);
    expect(column(records.actions, 1)).toEqual([2, 1, 0, 0, 0]);
    expect(column(records.previousActions, 0)).toEqual([-1, 1, 2, 1, -1]);
    expect(column(records.active, 0)).toEqual([1, 1, 1, 1, 0]);
    expect(column(records.active, 1)).toEqual([1, 1, 1, 0, 0]);
    expect(column(records.isLast, 0)).toEqual([0, 0, 0, 1, 0]);
    expect(column(records.isLast, 1)).toEqual([0, 0, 1, 0, 0]);
    expect(column(records.isTerminal, 1)).toEqual([0, 0, 1, 0, 0]);
    expect([...records.isFirst]).toEqual([1, 0, 0, 0, 0]);
    expect(column(records.observations['flag'], 0)).toEqual([11, 12, 13, 14, 0]);
  });

  it('tells a time limit from an end by the rules, and both from a cut', async () => {
    const stream = await play({ envs: 1, agents: 1, maxSteps: 2, deathRate: 0, seed: 1 }).collect(3);
    const records = toRecords(splitEpisodes(stream, { partial: 'keep' })); // 2 steps to the limit, 1 step that goes on
    expect([...records.isLast]).toEqual([0, 0, 1, 0, 0, 0]);
    expect([...records.isTerminal]).toEqual([0, 0, 0, 0, 0, 0]);
    expect([...records.isFirst]).toEqual([1, 0, 0, 1, 0, 0]);
    expect([...records.active]).toEqual([1, 1, 1, 1, 1, 0]);
    // Both last observations were kept: no zeros (the vector begins with the steps done).
    expect([records.observations['vector'][6], records.observations['vector'][12]]).toEqual([2, 1]);
  });

  it('refuses a row in which an episode ends before the row does', async () => {
    const stream = await play({ envs: 1, agents: 1, maxSteps: 2, deathRate: 0, seed: 1 }).collect(3);
    expect(() => toRecords(stream)).toThrow(/one episode in each row, got an end after step 1 of 3 in environment 0/);
  });
});

describe('fromRecords', () => {
  it('undoes toRecords, on random games', async () => {
    const world = fc.record({
      envs: fc.integer({ min: 1, max: 3 }),
      agents: fc.integer({ min: 1, max: 3 }),
      maxSteps: fc.integer({ min: 1, max: 6 }),
      deathRate: fc.constantFrom(0, 0.2, 0.6),
      seed: fc.nat(1e6),
    });
    await fc.assert(
      fc.asyncProperty(world, fc.integer({ min: 1, max: 12 }), async (options, steps) => {
        const episodes = splitEpisodes(await play(options).collect(steps), { partial: 'keep' });
        const back = fromRecords(toRecords(episodes));
        const { cuts: _, ...fields } = back;
        const { cuts: __, states: ___, ...expected } = episodes; // records are what agents see
        expect(fields).toEqual(expected);
        expect(cutsOf(back)).toEqual(cutsOf(episodes));
      }),
      { numRuns: 60 },
    );
  });

  it('undoes the example', () => {
    expect(fromRecords(toRecords(example()))).toEqual(example());
  });
});
