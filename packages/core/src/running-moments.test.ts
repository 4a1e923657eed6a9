import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRunningMoments } from './running-moments';

describe('running moments (P16)', () => {
  it('are exact at large offsets, one at a time and as one batch', () => {
    const together = createRunningMoments();
    together.update([1e6 + 1, 1e6 + 2, 1e6 + 3]);
    const singly = createRunningMoments();
    for (const value of [1e6 + 3, 1e6 + 1, 1e6 + 2]) singly.update([value]);
    for (const moments of [together, singly]) {
      expect(moments.count).toBe(3);
      expect(moments.mean[0]).toBeCloseTo(1e6 + 2, 6);
      expect(moments.variance[0]).toBeCloseTo(2 / 3, 6);
    }
  });

  it('do not depend on how and in what order rows are batched', () => {
    const batches = fc.array(fc.array(fc.integer({ min: -1000, max: 1000 }), { maxLength: 20 }), { minLength: 1 });
    fc.assert(
      fc.property(batches, (rows) => {
        const offset = 1e6;
        const all = rows.flat().map((value) => value + offset);
        fc.pre(all.length > 0);
        const whole = createRunningMoments();
        whole.update(all);
        const reversed = createRunningMoments();
        for (const batch of [...rows].reverse()) reversed.update(batch.map((value) => value + offset));
        const mean = all.reduce((a, b) => a + b, 0) / all.length;
        const variance = all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / all.length;
        for (const moments of [whole, reversed]) {
          expect(moments.mean[0]).toBeCloseTo(mean, 6);
          expect(moments.variance[0]).toBeCloseTo(variance, 4);
        }
      }),
    );
  });

  it('keep their digits over 1e7 rows', () => {
    const moments = createRunningMoments();
    const batch = Float64Array.from({ length: 100_000 }, (_, i) => 1e6 + (i % 3));
    batch[99_999] = 1e6 + 1; // now as many of 0 as of 1 and 2: 33,333 each and one 1 more
    for (let i = 0; i < 100; i++) moments.update(batch);
    expect(moments.count).toBe(1e7);
    expect(moments.mean[0]).toBeCloseTo(1e6 + 1, 6); // (33333 x 0 + 33334 x 1 + 33333 x 2) / 1e5 = 1
    expect(moments.variance[0]).toBeCloseTo(0.66666, 6); // 66666 / 1e5
  });

  it('normalise columns by their own moments, and constants to 0', () => {
    const moments = createRunningMoments(2);
    const rows = [1, 1e7 / 3, 3, 1e7 / 3];
    moments.update(rows);
    moments.update(rows);
    expect(moments.normalise(rows, { epsilon: 1e-12 })).toEqual(Float32Array.of(-1, 0, 1, 0));
    expect(moments.normalise([100, 0], { clip: 10 })[0]).toBe(10);
  });

  it('of one row: its value, and variance 0', () => {
    const moments = createRunningMoments();
    expect(moments.variance[0]).toBe(0);
    moments.update([5]);
    expect([moments.mean[0], moments.variance[0], moments.normalise([5])[0]]).toEqual([5, 0, 0]);
  });

  it('do not look at rows of weight 0', () => {
    const moments = createRunningMoments();
    moments.update([Number.NaN, 1, 3, 7], [0, 1, 1, 0]);
    moments.update([Number.NaN], [0]);
    expect([moments.count, moments.mean[0], moments.variance[0]]).toEqual([2, 2, 1]);
  });

  it('refuse what would spoil them, and stay as they were', () => {
    const moments = createRunningMoments();
    moments.update([1, 3]);
    expect(() => moments.update([2, Number.NaN])).toThrow(
      /runningMoments.update: expected finite values, got NaN in row 1/,
    );
    expect(() => moments.update([2], [-1])).toThrow(/weights of at least 0/);
    expect(() => createRunningMoments(3).update([1, 2])).toThrow(/rows of 3 values/);
    expect(() => createRunningMoments(0)).toThrow(/at least 1/);
    expect([moments.count, moments.mean[0]]).toEqual([2, 2]);
  });

  it('continue from a saved state to the bit', () => {
    const first = createRunningMoments(2);
    first.update([0.1, 0.2, 0.3, 0.7]);
    const second = createRunningMoments(2);
    second.restore(structuredClone(first.state()));
    for (const moments of [first, second]) moments.update([1 / 3, 9]);
    expect(second.state()).toEqual(first.state());
    expect(() => createRunningMoments(3).restore(first.state())).toThrow(/moments of 3 columns/);
  });
});
