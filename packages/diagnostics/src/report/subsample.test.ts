import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stretchMeans, subsample } from './subsample';

describe('subsample', () => {
  const values = fc.array(fc.float({ noNaN: false, noDefaultInfinity: false }), { maxLength: 400 });
  it('keeps the extremes, the ends and the order, and no more points than asked for', () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 4, max: 60 }), (list, points) => {
        const kept = subsample(list, points);
        const finite = list.flatMap((value, i) => (Number.isFinite(value) ? [i] : []));
        expect(kept.length).toBeLessThanOrEqual(points);
        expect(kept).toEqual([...new Set(kept)].sort((a, b) => a - b));
        expect([kept[0], kept.at(-1)]).toEqual([finite[0], finite.at(-1)]);
        const told = kept.map((place) => list[place]);
        const all = finite.map((place) => list[place]);
        expect([Math.min(...told), Math.max(...told)]).toEqual([Math.min(...all), Math.max(...all)]);
      }),
    );
  });

  it('keeps a single spike among 10,000 values', () => {
    const flat = Float64Array.from({ length: 10_000 }, (_, i) => (i === 7777 ? 50 : i % 2));
    expect(subsample(flat, 100)).toContain(7777);
  });

  it('of equal values keeps the two ends', () => {
    expect(subsample([1, 1, Number.NaN, 1, 1], 500)).toEqual([0, 4]);
  });
});

describe('stretchMeans', () => {
  it('are means of steps and values, by hand, without NaN', () => {
    const curve = { steps: [1, 2, 3, 4, 5], values: [1, 3, Number.NaN, 5, 9] };
    // Left are (1, 1), (2, 3), (4, 5), (5, 9): two stretches of two.
    expect(stretchMeans(curve, 2)).toEqual({ steps: [1.5, 4.5], values: [2, 7] });
    expect(stretchMeans(curve, 10).values).toEqual([1, 3, 5, 9]);
  });
});
