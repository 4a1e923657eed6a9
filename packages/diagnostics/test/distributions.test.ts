import type { Experience } from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import {
  distributionFigure,
  distributionMetrics,
  distributionOf,
  distributionTable,
  realAndImagined,
} from '@coplay/diagnostics';
import { describe, expect, it } from 'vitest';

/** Two agents, one number to see, two actions. */
const spec = {
  agents: ['a', 'b'],
  observation: { x: { shape: [], dtype: 'float32' } },
  actions: 2,
} as const;

interface Step {
  readonly rewards: readonly [number, number];
  readonly active?: readonly [number, number];
  readonly isFirst?: boolean;
  readonly ended?: boolean;
}

/** One experience of an environment each. */
function experienceOf(envs: readonly (readonly Step[])[], imagined: readonly number[]): Experience {
  const steps = Math.max(...envs.map((env) => env.length));
  const experience = allocateExperience(spec, envs.length, steps);
  experience.isImagined.set(imagined);
  experience.rewards.fill(99); // entries that aren't overwritten are padding and must not count
  experience.active.fill(1);
  envs.forEach((env, e) => {
    experience.lengths[e] = env.length;
    env.forEach(({ rewards, active = [1, 1], isFirst = false, ended = false }, t) => {
      const step = e * steps + t;
      experience.rewards.set(rewards, 2 * step);
      experience.active.set(active, 2 * step);
      experience.isFirst[step] = isFirst ? 1 : 0;
      experience.ended[step] = ended ? 1 : 0;
    });
  });
  return experience;
}

/** Real: the end of an episode, then one of two steps which b leaves after the first; imagined: one that is cut off. */
const experience = experienceOf(
  [
    [
      { rewards: [7, 0], ended: true },
      { rewards: [0, 1], isFirst: true },
      { rewards: [5, 50], active: [1, 0], ended: true },
    ],
    [{ rewards: [2, 4], isFirst: true }, { rewards: [2, 4] }],
  ],
  [0, 1],
);

describe('distributionOf', () => {
  it('has the figures of 0, 1, 2, 3, 4', () => {
    const { quantiles, histogram, ...figures } = distributionOf([4, 0, 2, 1, 3], { bins: 2, percents: [25, 50, 90] });
    // Squares of -2, -1, 0, 1, 2 by 5; 90 % lies 0.6 of the way from 3 to 4.
    expect(figures).toEqual({ count: 5, notFinite: 0, mean: 2, variance: 2, min: 0, max: 4 });
    expect(quantiles[25]).toBe(1);
    expect(quantiles[50]).toBe(2);
    expect(quantiles[90]).toBeCloseTo(3.6, 12);
    expect(histogram).toEqual({ edges: [0, 2, 4], counts: [2, 3] });
  });

  it('keeps its digits far from 0', () => {
    expect(distributionOf([1e9, 1e9 + 1]).variance).toBe(0.25);
  });

  it('puts what is outside of the range into the bins at its ends', () => {
    const { counts } = distributionOf([-5, 0.1, 0.9, 7], { bins: 2, range: [0, 1] }).histogram;
    expect(counts).toEqual([2, 2]);
  });

  it('counts what is no number, and is NaN where there is nothing', () => {
    expect(distributionOf([Number.NaN, 3, Infinity])).toMatchObject({ count: 1, notFinite: 2, mean: 3, variance: 0 });
    const nothing = distributionOf([]);
    expect(nothing).toMatchObject({ count: 0, notFinite: 0, mean: Number.NaN, min: Number.NaN });
    expect(nothing.histogram.counts.every((count) => count === 0)).toBe(true);
  });

  it('gives equal numbers a bin', () => {
    expect(distributionOf([3, 3], { bins: 2 }).histogram).toEqual({ edges: [2.5, 3, 3.5], counts: [0, 2] });
  });

  it('refuses wrong options', () => {
    expect(() => distributionOf([1], { bins: 0 })).toThrow(/distributionOf: option bins/);
    expect(() => distributionOf([1], { range: [1, 0] })).toThrow(/the lower one first/);
  });
});

describe('realAndImagined', () => {
  const values = Float32Array.from({ length: 12 }, (_, row) => row);
  const targets = values.map((value) => value - 2);
  const found = realAndImagined([{ experience, measures: { value: values, return: targets } }]);

  it('counts each step of an active agent once, by origin', () => {
    // Real: 7 0 0 1 5, without the 50 of an agent that has left; imagined: 2 4 2 4, without padding.
    expect(found['reward'].real).toMatchObject({ count: 5, min: 0, max: 7 });
    expect(found['reward'].real.mean).toBeCloseTo(13 / 5, 12);
    expect(found['reward'].imagined).toMatchObject({ count: 4, mean: 3, variance: 1, min: 2, max: 4 });
  });

  it('knows the returns of whole episodes only', () => {
    // Of the first environment the second episode: a 0 + 5, b 1. The imagined one doesn't end.
    expect(found['episode_return'].real).toMatchObject({ count: 2, min: 1, max: 5, mean: 3 });
    expect(found['episode_return'].imagined.count).toBe(0);
  });

  it('takes numbers for each step by the same rows, and their error', () => {
    // Rows 0..4 of the first environment (5 is of the agent that left), 6..9 of the second.
    expect(found['value'].real).toMatchObject({ count: 5, mean: 2, min: 0, max: 4 });
    expect(found['value'].imagined).toMatchObject({ count: 4, mean: 7.5 });
    expect(found['value_error'].real).toMatchObject({ mean: 2, variance: 0 });
  });

  it('uses the same bins for both', () => {
    const { real, imagined } = found['reward'];
    expect(imagined.histogram.edges).toEqual(real.histogram.edges);
    expect([real.histogram.edges[0], real.histogram.edges.at(-1)]).toEqual([0, 7]);
  });

  it('is the same for any content of unused slots', () => {
    const dirty = { ...experience, rewards: experience.rewards.slice() };
    for (const row of [5, 10, 11]) dirty.rewards[row] = Number.NaN;
    expect(realAndImagined([{ experience: dirty }])).toEqual(realAndImagined([{ experience }]));
  });

  it('refuses numbers that belong to something else', () => {
    const wrong = { experience, measures: { value: [1, 2] } };
    expect(() => realAndImagined([wrong])).toThrow(/value of 12 numbers \[E, T, A\], got 2/);
  });

  it('becomes metrics, without those of what is not there', () => {
    const metrics = distributionMetrics(found);
    expect(metrics).toMatchObject({
      'real/reward_count': 5,
      'real/reward_max': 7,
      'imagined/reward_mean': 3,
      'imagined/reward_variance': 1,
      'imagined/value_p50': 7.5,
      'real/value_error_mean': 2,
      'real/reward_not_finite': 0,
    });
    expect(Object.keys(metrics).some((key) => key.startsWith('imagined/episode_return'))).toBe(false);
    expect(Object.keys(metrics).every((key) => /^(real|imagined)\/[a-z0-9_]+$/.test(key))).toBe(true);
  });

  it('becomes a table and a figure', async () => {
    const rows = distributionTable(found);
    expect(rows.find((row) => row['quantity'] === 'reward' && row['origin'] === 'imagined')).toMatchObject({
      count: 4,
      mean: 3,
      '50 %': 3,
    });
    const svg = await distributionFigure(found['reward'], { title: 'Rewards', x: 'reward', scale: 'sqrt' });
    expect(svg).toContain('real: 5, mean 2.600');
    expect(svg).toContain('imagined: 4, mean 3.000');
    // 20 bins for each of two origins, and the legend and the ground.
    expect(svg.match(/<rect /g)?.length).toBeGreaterThanOrEqual(40);
  });
});
