import {
  createEpisodeCollector,
  createHistoryBuffer,
  createMoaBuffer,
  observationTransitions,
  sliceSteps,
  splitEpisodes,
} from '@coplay/buffers';
import { streamRecords, toRecords } from '@coplay/buffers/records';
import { createGenerator, createRollout, type Experience, type VectorEnv, vectorEnv } from '@coplay/core';
import { randomAgent } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { play, stepOf, survival } from './survival';

/** Two environments play 5 steps, environment 0 is reset, then both play 8 more: an episode has 8 steps at most. */
async function withReset(): Promise<[Experience, Experience]> {
  const rollout = play({ agents: 2, maxSteps: 8, deathRate: 0, envs: 2, seed: 3 });
  const before = await rollout.collect(5);
  (rollout.env as VectorEnv).reset({ envs: [0] });
  return [before, await rollout.collect(8)];
}

/** One stream of 6 steps in which the fourth is the first of another episode, though none has ended. */
async function brokenOffWithin(): Promise<Experience> {
  const long = survival({ agents: 2, maxSteps: 20, deathRate: 0 });
  const agents = long.agents.map((id) => randomAgent({ game: long, id }));
  const stream = await createRollout(vectorEnv(long, { envs: 1 }), agents, createGenerator(1)).collect(6);
  stream.isFirst[3] = 1;
  return stream;
}

describe('an episode that is broken off by a reset between two rollouts', () => {
  it('is left out by the collector; the one after it is whole, and the other environment goes on', async () => {
    const [before, after] = await withReset();
    const collector = createEpisodeCollector();
    expect(collector.push(before).envs).toBe(0);
    const episodes = collector.push(after);
    expect([...episodes.lengths]).toEqual([8, 8]);
    for (let t = 0; t < 8; t++) {
      expect(stepOf(episodes, 0, t, 1)).toEqual(stepOf(after, 0, t, 1));
      expect(stepOf(episodes, 1, t, 1)).toEqual(t < 5 ? stepOf(before, 1, t, 1) : stepOf(after, 1, t - 5, 1));
    }
    expect([...episodes.isFirst]).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
  });

  it('is left out too by a collector that was saved in between', async () => {
    const [before, after] = await withReset();
    const first = createEpisodeCollector();
    first.push(before);
    const second = createEpisodeCollector();
    second.restore(first.state());
    expect([...second.push(after).lengths]).toEqual([8, 8]);
  });

  it('gives no rows to models of others, and no history', async () => {
    const [before, after] = await withReset();
    const moa = createMoaBuffer({ coPlayers: ['agent_1'] });
    const histories = createHistoryBuffer({ observer: 0 });
    for (const experience of [before, after]) {
      moa.push(experience);
      histories.push(experience);
    }
    expect(moa.held('agent_1').lengths).toEqual([8, 8]);
    expect([...histories.offsets()]).toEqual([0, 8, 16]);
  });

  it('is a piece of its own among records, which begins again in the next rollout', async () => {
    const [before, after] = await withReset();
    const counts = [before, after].map((experience) => {
      const { records, envs } = streamRecords(experience);
      return [...records.lengths].map(
        (length, i) => `${envs[i]}: ${length} from ${records.isFirst[i * records.records]}`,
      );
    });
    expect(counts).toEqual([
      ['0: 6 from 1', '1: 6 from 1'],
      ['0: 9 from 1', '1: 4 from 0', '1: 6 from 1'],
    ]);
  });
});

describe('an episode that is broken off within a stream', () => {
  it('is two pieces, neither of which is whole', async () => {
    const stream = await brokenOffWithin();
    expect([...splitEpisodes(stream, { partial: 'keep' }).lengths]).toEqual([3, 3]);
    expect(splitEpisodes(stream).envs).toBe(0);
    expect([...streamRecords(stream).records.lengths]).toEqual([4, 4]);
    expect(() => toRecords(stream)).toThrow(/toRecords: expected one episode in each row, got an end after step 2/);
  });

  it('is no transition from its last step to the first of the next one', async () => {
    const stream = await brokenOffWithin();
    const { vector, 'next/vector': next } = observationTransitions(stream);
    expect(vector.shape[0]).toBe(5);
    // Agent 0 sees the steps done first: each transition goes one step on.
    const seen = (data: ArrayLike<number>) => Array.from({ length: 5 }, (_, row) => data[row * 6]);
    expect(seen(vector.data)).toEqual([0, 1, 3, 4, 5]);
    expect(seen(next.data)).toEqual([1, 2, 4, 5, 6]);
  });

  it('is not bootstrapped with what the next one begins with', async () => {
    const first = sliceSteps(await brokenOffWithin(), 0, 3);
    expect(first.cuts.env.length).toBe(0);
    expect([...sliceSteps(await brokenOffWithin(), 0, 2).cuts.step]).toEqual([1]);
  });
});
