import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  interquartileMean,
  mean,
  median,
  performanceProfile,
  probabilityOfImprovement,
  type Scores,
  shareAtLeast,
  stratifiedBootstrap,
} from '@coplay/diagnostics/statistics';
import { describe, expect, it } from 'vitest';

/** Values of rliable for three tasks, ten seeds of x and eight of y; two-digit scores, so that there are ties. */
const peer = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures/rliable.json'), 'utf8'));

/** An end of an interval from 10,000 resamples has a standard error of about 0.002 here. */
const MONTE_CARLO = 0.01;

const byTask = (statistic: (values: ArrayLike<number>) => number) => (scores: Scores) => statistic(scores.map(mean));

function expectInterval({ lower, upper }: { lower: number; upper: number }, [low, high]: readonly number[]): void {
  expect(Math.abs(lower - low)).toBeLessThan(MONTE_CARLO);
  expect(Math.abs(upper - high)).toBeLessThan(MONTE_CARLO);
}

describe('stratifiedBootstrap', () => {
  it.each(['x', 'y'] as const)('has the values and intervals of rliable for %s', (name) => {
    const statistics = { iqm: undefined, mean: byTask(mean), median: byTask(median) };
    for (const [key, statistic] of Object.entries(statistics)) {
      const found = stratifiedBootstrap(peer[name], { seed: 1, ...(statistic && { statistic }) });
      expectInterval(found, peer.intervals[name][key]);
      expect(found.count).toBe(peer[name][0].length);
      if (key === 'iqm') expect(found.value).toBeCloseTo(peer.iqm[name], 12);
      else if (name === 'x') expect(found.value).toBeCloseTo(peer[key], 12);
    }
  });

  it('resamples seeds within each task only', () => {
    // Each task has one score in all seeds: no resample can differ.
    const scores = [
      [1, 1, 1],
      [5, 5, 5],
    ];
    expect(stratifiedBootstrap(scores, { statistic: byTask(mean) })).toEqual({
      value: 3,
      lower: 3,
      upper: 3,
      count: 3,
    });
  });

  it('goes by its seed, and has no interval for one seed', () => {
    const lower = (seed: number) => stratifiedBootstrap(peer.x, { seed, resamples: 200 }).lower;
    expect(lower(3)).toBe(lower(3));
    expect(lower(3)).not.toBe(lower(4));
    expect(stratifiedBootstrap([[2], [4]])).toEqual({ value: 3, lower: Number.NaN, upper: Number.NaN, count: 1 });
  });

  it('refuses a statistic that is no number, and keeps the scores from one that writes', () => {
    for (const result of ['x', undefined, Number.POSITIVE_INFINITY]) {
      const statistic = () => result as number;
      expect(() => stratifiedBootstrap([[1, 2]], { statistic })).toThrow(/option statistic: what it returns/);
    }
    const scores = [[1, 2]];
    const statistic = (sample: readonly ArrayLike<number>[]) => ((sample[0] as number[])[0] = 7);
    stratifiedBootstrap(scores, { statistic, resamples: 10 });
    expect(scores).toEqual([[1, 2]]);
  });

  it('refuses what is no matrix of scores', () => {
    expect(() => stratifiedBootstrap([])).toThrow(/stratifiedBootstrap: scores: expected a list of tasks/);
    expect(() => stratifiedBootstrap([[1], []])).toThrow(/stratifiedBootstrap: scores\[1\]: expected/);
    expect(() => stratifiedBootstrap([1, 2] as never)).toThrow(/scores\[0\]/);
  });
});

describe('probabilityOfImprovement', () => {
  it('has the value and interval of rliable', () => {
    const found = probabilityOfImprovement(peer.x, peer.y);
    expect(found.value).toBeCloseTo(peer.probabilityOfImprovement.value, 12);
    expectInterval(found, peer.probabilityOfImprovement.interval);
    expect(found.count).toBe(8);
  });

  it('counts ties half', () => {
    // Pairs: 1 against 1 and 2: a tie and a loss; 3 wins both.
    expect(probabilityOfImprovement([[1, 3]], [[1, 2]]).value).toBe(0.625);
    expect(probabilityOfImprovement(peer.x, peer.x).value).toBeCloseTo(0.5, 12);
  });

  it('refuses other numbers of tasks', () => {
    expect(() => probabilityOfImprovement([[1]], [[1], [2]])).toThrow(/second: expected .* same 1 tasks, got 2 tasks/);
  });
});

it('performanceProfile has the values and intervals of rliable', () => {
  const found = performanceProfile(peer.x, peer.profile.thresholds);
  found.forEach((estimate, i) => {
    expect(estimate.value).toBeCloseTo(peer.profile.values[i], 12);
    // Shares are multiples of 1/30: an end may lie on the next one.
    expect(Math.abs(estimate.lower - peer.profile.intervals[i][0])).toBeLessThan(1 / 30 + 1e-9);
    expect(Math.abs(estimate.upper - peer.profile.intervals[i][1])).toBeLessThan(1 / 30 + 1e-9);
  });
});

describe('shareAtLeast', () => {
  it.each(
    peer.clopperPearson as { reached: number; count: number; confidence: number; lower: number; upper: number }[],
  )(
    'has the interval of scipy for $reached of $count at $confidence',
    ({ reached, count, confidence, lower, upper }) => {
      const values = Array.from({ length: count }, (_, i) => (i < reached ? 2.75 : 2.7));
      const found = shareAtLeast(values, 2.75, confidence);
      expect(found.value).toBeCloseTo(reached / count, 12);
      expect(found.lower).toBeCloseTo(lower, 10);
      expect(found.upper).toBeCloseTo(upper, 10);
      expect(found.count).toBe(count);
    },
  );

  it('refuses shares as coverage that are none', () => {
    expect(() => shareAtLeast([1], 1, 1)).toThrow(/shareAtLeast: confidence/);
    expect(() => shareAtLeast([], 1)).toThrow(/shareAtLeast: values/);
  });
});

it('interquartileMean is that of rliable over all scores', () => {
  for (const name of ['x', 'y']) expect(interquartileMean(peer[name].flat())).toBeCloseTo(peer.iqm[name], 12);
});
