import {
  agentRows,
  agentSequences,
  concatExperience,
  createEpisodeCollector,
  episodeStatistics,
  selectEnvs,
  sliceSteps,
  splitEpisodes,
  splitSegments,
} from '@coplay/buffers';
import { bootstrapValues, type Experience, gae, type NDArray } from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutsOf, play, stepOf, survival } from './survival';

const world = fc.record({
  envs: fc.integer({ min: 1, max: 4 }),
  agents: fc.integer({ min: 1, max: 3 }),
  maxSteps: fc.integer({ min: 1, max: 6 }),
  deathRate: fc.constantFrom(0, 0.2, 0.6),
  seed: fc.nat(1e6),
});
const steps = fc.integer({ min: 1, max: 14 });

/** A value for what one agent saw, so that the same sight has the same value wherever it is stored. */
function critic(x: Experience): { values: Float32Array; cutValues: Float32Array } {
  const valueAt = (vectors: ArrayLike<number>) =>
    Float32Array.from({ length: vectors.length / 3 }, (_, i) => Math.sin(vectors[i * 3 + 1] + vectors[i * 3 + 2]));
  return { values: valueAt(x.observations['vector']), cutValues: valueAt(x.cuts.observations['vector']) };
}

/** A number that orders the keys of `cutsOf` by environment and step. */
function placeOf(key: string): number {
  const [env, step] = key.split(' ').map(Number);
  return env * 1000 + step;
}

/** Advantages of active steps, by tag. */
function advantagesByTag(x: Experience, lambda: number): Map<number, number> {
  const { values, cutValues } = critic(x);
  const nextValues = bootstrapValues(x, values, cutValues);
  const { advantages } = gae({ ...x, values, nextValues }, { gamma: 0.9, lambda });
  const tags = x.extras['tag'].data;
  return new Map(Array.from(advantages, (a, row) => [tags[row], a] as const).filter((_, row) => x.active[row] === 1));
}

describe('splitEpisodes', () => {
  it('puts every episode into a row of its own, with all fields', async () => {
    await fc.assert(
      fc.asyncProperty(world, steps, async (options, count) => {
        const stream = await play(options).collect(count);
        const episodes = splitEpisodes(stream, { partial: 'keep' });
        let row = 0;
        for (let env = 0; env < stream.envs; env++) {
          let t = 0;
          for (let step = 0; step < count; step++, t++) {
            for (let agent = 0; agent < options.agents; agent++) {
              expect(stepOf(episodes, row, t, agent)).toEqual(stepOf(stream, env, step, agent));
            }
            if (stream.ended[env * count + step] === 0 && step < count - 1) continue;
            expect(episodes.lengths[row++]).toBe(t + 1);
            t = -1;
          }
        }
        expect(row).toBe(episodes.envs);
        // The same cuts in the same order: by environment and time.
        const inOrder = Object.entries(cutsOf(stream)).sort(([a], [b]) => placeOf(a) - placeOf(b));
        expect(Object.values(cutsOf(episodes))).toEqual(inOrder.map(([, cut]) => cut));
      }),
      { numRuns: 40 },
    );
  });

  it('changes no advantage, in episodes and in slices at their ends', async () => {
    await fc.assert(
      fc.asyncProperty(world, steps, async (options, count) => {
        const stream = await play(options).collect(count);
        const whole = advantagesByTag(stream, 0.9);
        expect(advantagesByTag(splitEpisodes(stream, { partial: 'keep' }), 0.9)).toEqual(whole);
        // Cut anywhere else, one step ahead still sees the same.
        const near = advantagesByTag(stream, 0);
        expect(advantagesByTag(splitSegments(stream, 3), 0)).toEqual(near);
        const middle = Math.floor(count / 2);
        const halves = [sliceSteps(stream, 0, middle), sliceSteps(stream, middle, count)];
        expect(new Map(halves.flatMap((half) => [...advantagesByTag(half, 0)]))).toEqual(
          new Map(halves.flatMap((half) => [...advantagesByTag(half, 0).keys()].map((tag) => [tag, near.get(tag)]))),
        );
        expect(halves.reduce((sum, half) => sum + advantagesByTag(half, 0).size, 0)).toBe(near.size);
      }),
      { numRuns: 40 },
    );
  });

  it('leaves out what has no start or no end, unless asked, and pads as asked', async () => {
    const stream = await play({ envs: 2, agents: 1, maxSteps: 4, deathRate: 0, seed: 1 }).collect(10);
    const late = sliceSteps(stream, 1, 10); // episodes of 3 (no start), 4 and 2 (no end) steps
    expect([...splitEpisodes(late).lengths]).toEqual([4, 4]);
    expect([...splitEpisodes(late, { partial: 'keep' }).lengths]).toEqual([3, 4, 2, 3, 4, 2]);
    expect(splitEpisodes(late, { steps: 7 }).steps).toBe(7);
    expect(() => splitEpisodes(late, { steps: 3 })).toThrow(/steps of at least 4, the longest episode, got 3/);
    expect(() => splitEpisodes(late, { partly: 'keep' } as never)).toThrow(/unknown option "partly"/);
    expect(splitEpisodes(sliceSteps(stream, 1, 3)).envs).toBe(0);
  });
});

describe('segments and choices of environments', () => {
  it('start with the state that was stored in their first step', async () => {
    const stream = await play({ envs: 2, agents: 2, maxSteps: 5, deathRate: 0.1, seed: 2 }).collect(11);
    const segments = splitSegments(stream, 4);
    expect([...segments.lengths]).toEqual([4, 4, 3, 4, 4, 3]);
    for (let row = 0; row < 6; row++) {
      for (let t = 0; t < segments.lengths[row]; t++) {
        const place = [Math.floor(row / 3), (row % 3) * 4 + t] as const;
        expect(stepOf(segments, row, t, 1)).toEqual(stepOf(stream, ...place, 1));
      }
    }
    expect(() => splitSegments(stream, 0)).toThrow(/splitSegments: length: expected a whole number from 1/);
  });

  it('join and choose environments', async () => {
    const short = await play({ envs: 2, agents: 2, maxSteps: 3, deathRate: 0.2, seed: 3 }).collect(4);
    const long = await play({ envs: 1, agents: 2, maxSteps: 3, deathRate: 0.2, seed: 4 }).collect(6);
    const joined = concatExperience([short, { ...long, isImagined: Uint8Array.of(1) }]);
    expect([joined.envs, joined.steps, [...joined.lengths], [...joined.isImagined]]).toEqual([
      3,
      6,
      [4, 4, 6],
      [0, 0, 1],
    ]);
    expect(cutsOf(joined)).toEqual({
      ...cutsOf(short),
      ...Object.fromEntries(Object.entries(cutsOf(long)).map(([place, cut]) => [place.replace('0 ', '2 '), cut])),
    });
    expect(sliceSteps(selectEnvs(joined, [2, 0]), 0, 6)).toEqual(
      concatExperience([selectEnvs(joined, [2]), selectEnvs(joined, [0])]),
    );
    expect(stepOf(selectEnvs(joined, [2]), 0, 5, 1)).toEqual(stepOf(long, 0, 5, 1));
    expect(() => selectEnvs(joined, [3])).toThrow(/environments from 0 to 2, got 3/);
    expect(() => sliceSteps(joined, 2, 1)).toThrow(/sliceSteps/);
  });

  it('refuse to join what has other fields, by name', async () => {
    const one = await play({ envs: 1, agents: 2, maxSteps: 3, deathRate: 0, seed: 3 }).collect(2);
    const { tag: _, ...extras } = one.extras;
    expect(() => concatExperience([one, { ...one, extras }])).toThrow(/expected extras\/tag: int32 \[\], got none/);
    const other = await play({ envs: 1, agents: 1, maxSteps: 3, deathRate: 0, seed: 3 }).collect(2);
    expect(() => concatExperience([one, other])).toThrow(/agents: agent_0, agent_1, got agent_0/);
    expect(() => concatExperience([])).toThrow(/at least one part/);
  });
});

describe('createEpisodeCollector', () => {
  it('finds the same episodes however the stream is cut, also after save and restore', async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.array(steps, { minLength: 1, maxLength: 5 }), async (options, lengths) => {
        const total = lengths.reduce((sum, length) => sum + length, 0);
        const whole = splitEpisodes(await play(options).collect(total));
        const rollout = play(options);
        let collector = createEpisodeCollector();
        const found: Experience[] = [];
        for (const length of lengths) {
          found.push(collector.push(await rollout.collect(length)));
          const next = createEpisodeCollector();
          next.restore(structuredClone(collector.state()));
          collector = next;
        }
        const byTag = (parts: Experience[]) =>
          new Map(parts.flatMap((part) => Array.from({ length: part.envs }, (_, e) => episodeOf(part, e))));
        expect(byTag(found)).toEqual(byTag([whole]));
      }),
      { numRuns: 40 },
    );
  });

  it('leaves out an episode whose start was never seen, and refuses other numbers of environments', async () => {
    const rollout = play({ envs: 1, agents: 1, maxSteps: 4, deathRate: 0, seed: 1 });
    await rollout.collect(2);
    const collector = createEpisodeCollector();
    expect(collector.push(await rollout.collect(3)).envs).toBe(0);
    expect([...collector.push(await rollout.collect(3)).lengths]).toEqual([4]);
    const other = await play({ envs: 2, agents: 1, maxSteps: 4, deathRate: 0, seed: 1 }).collect(2);
    expect(() => collector.push(other)).toThrow(/episodeCollector.push: expected 1 environments, got 2/);
  });
});

/** One episode's steps, under the tag of its first one. */
function episodeOf(x: Experience, env: number): [number, unknown] {
  const all = Array.from({ length: x.lengths[env] }, (_, t) => x.agents.map((_, agent) => stepOf(x, env, t, agent)));
  const cuts = Object.entries(cutsOf(x)).filter(([place]) => place.startsWith(`${env} `));
  return [all[0][0]['tag'] as number, { all, cuts: cuts.map(([place, cut]) => [place.split(' ')[1], cut]) }];
}

/** The values of row b of a named array. */
function valuesOf({ data, shape }: NDArray, b: number): number[] {
  const size = data.length / shape[0];
  return [...data.subarray(b * size, (b + 1) * size)];
}

describe('agentRows', () => {
  it('has every active step of the agent once, all fields together, and nothing of others (P14, M02)', async () => {
    await fc.assert(
      fc.asyncProperty(world, steps, async (options, count) => {
        const stream = await play(options).collect(count);
        for (let seat = 0; seat < options.agents; seat++) {
          const rows = agentRows(stream, seat);
          const places = Array.from(
            { length: options.envs * count },
            (_, i) => [Math.floor(i / count), i % count] as const,
          );
          const expected = places.map(([env, t]) => stepOf(stream, env, t, seat)).filter(({ active }) => active === 1);
          expect(rows['tag'].shape).toEqual([expected.length]);
          expected.forEach((step, b) => {
            expect(valuesOf(rows['observations/vector'], b)).toEqual(step['vector']);
            expect(valuesOf(rows['masks'], b)).toEqual(step['mask']);
            expect(valuesOf(rows['previousActions'], b)).toEqual(step['previousActions']);
            expect(valuesOf(rows['recurrent'], b)).toEqual(step['recurrent']);
            const single = { actions: 'action', rewards: 'reward', tag: 'tag', isFirst: 'isFirst', ended: 'ended' };
            for (const [name, field] of Object.entries(single)) expect(rows[name].data[b], name).toBe(step[field]);
            expect(Math.floor(rows['tag'].data[b] / 1e5)).toBe(seat);
          });
        }
      }),
      { numRuns: 30 },
    );
  });

  it('marks imagined rows, and refuses a seat that is not there', async () => {
    const stream = await play({ envs: 2, agents: 1, maxSteps: 3, deathRate: 0, seed: 1 }).collect(2);
    const rows = agentRows({ ...stream, isImagined: Uint8Array.of(0, 1) }, 0);
    expect(rows['isImagined'].data).toEqual(Uint8Array.of(0, 0, 1, 1));
    expect(() => agentRows(stream, 1)).toThrow(/agentRows: expected a seat from 0 to 0, got 1/);
    const extras = { rewards: stream.extras['tag'] };
    expect(() => agentRows({ ...stream, extras }, 0)).toThrow(/extras with names of their own, got "rewards"/);
  });
});

describe('agentSequences', () => {
  it('keeps steps in order, with the stored state of the first, without empty sequences', async () => {
    await fc.assert(
      fc.asyncProperty(world, steps, fc.integer({ min: 1, max: 5 }), async (options, count, length) => {
        const stream = await play(options).collect(count);
        const rows = agentSequences(stream, 0, { length, states: ['recurrent'] });
        let b = 0;
        for (let env = 0; env < options.envs; env++) {
          for (let start = 0; start < count; start += length) {
            const inside = Array.from({ length: Math.min(length, count - start) }, (_, i) =>
              stepOf(stream, env, start + i, 0),
            );
            if (inside.every(({ active }) => active === 0)) continue;
            const padding = new Array(length - inside.length).fill(0);
            expect(valuesOf(rows['tag'], b)).toEqual([...inside.map(({ tag }) => tag), ...padding]);
            expect(valuesOf(rows['active'], b)).toEqual([...inside.map(({ active }) => active), ...padding]);
            expect(valuesOf(rows['isFirst'], b)).toEqual([...inside.map(({ isFirst }) => isFirst), ...padding]);
            expect(valuesOf(rows['recurrent'], b)).toEqual(inside[0]['recurrent']);
            b++;
          }
        }
        expect(rows['tag'].shape).toEqual([b, length]);
        expect(rows['recurrent'].shape).toEqual([b, 2]);
        expect(rows['observations/vector'].shape).toEqual([b, length, 3]);
        expect(rows['isImagined'].shape).toEqual([b]);
      }),
      { numRuns: 40 },
    );
  });

  it('refuses a state that nobody stored', async () => {
    const stream = await play({ envs: 1, agents: 1, maxSteps: 3, deathRate: 0, seed: 1 }).collect(2);
    expect(() => agentSequences(stream, 0, { length: 2, states: ['hidden'] })).toThrow(
      /states among the extras: tag, recurrent, got "hidden"/,
    );
  });
});

describe('episodeStatistics', () => {
  it('has a mean for each agent, over agents, and of totals (M04)', () => {
    const episodes = allocateExperience(survival({ agents: 4, maxSteps: 2, deathRate: 0 }), 2, 2);
    episodes.active.fill(1);
    // Agent 0 earns 10 in each of two episodes; what stands in steps after its end doesn't count.
    for (const row of [0, 8]) episodes.rewards[row] = 10;
    episodes.active[12] = 0;
    episodes.rewards[12] = Number.NaN;
    episodes.lengths.set([2, 1]);
    const { returnMean, mean, totalMean, lengthMean, returns, episodes: count } = episodeStatistics(episodes);
    expect(returnMean).toEqual({ agent_0: 10, agent_1: 0, agent_2: 0, agent_3: 0 });
    expect([mean, totalMean, lengthMean, count]).toEqual([2.5, 10, 1.5, 2]);
    expect([...returns]).toEqual([10, 0, 0, 0, 10, 0, 0, 0]);
  });

  it('of no episodes are NaN', () => {
    const none = allocateExperience(survival({ agents: 1, maxSteps: 2, deathRate: 0 }), 0, 0);
    expect(episodeStatistics(none)).toMatchObject({ episodes: 0, mean: Number.NaN, lengthMean: Number.NaN });
  });
});
