import { describe, expect, it } from 'vitest';
import { createValueNorm } from './value-norm';

describe('createValueNorm', () => {
  it('gives the golden values', () => {
    const norm = createValueNorm();
    norm.update([1, 2, 3]);
    expect(norm.mean).toBeCloseTo(2, 6);
    expect(norm.variance).toBeCloseTo(0.666667, 6);
    // mean (beta 2 + 4) / (1 + beta), mean square (beta 14 + 56) / 3 / (1 + beta), beta 0.99999
    norm.update([2, 4, 6]);
    expect(norm.mean).toBeCloseTo(3.000005, 6);
    expect(norm.variance).toBeCloseTo(2.666672, 6);
  });

  it('equals the moving averages of mean and mean square', () => {
    const beta = 0.9;
    const norm = createValueNorm({ beta, varianceFloor: 1e-9 });
    let [mean, square, debias] = [0, 0, 0];
    for (const batch of [[1, 5], [2, 2, 8], [-3, 0], [4]]) {
      norm.update(batch);
      const average = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
      mean = beta * mean + (1 - beta) * average(batch);
      square = beta * square + (1 - beta) * average(batch.map((value) => value * value));
      debias = beta * debias + (1 - beta);
    }
    expect(norm.mean).toBeCloseTo(mean / debias, 12);
    expect(norm.variance).toBeCloseTo(square / debias - (mean / debias) ** 2, 12);
  });

  it('does not lose the variance at a large offset', () => {
    const norm = createValueNorm();
    for (let i = 0; i < 10; i++) norm.update([1e8 + 1, 1e8 + 2, 1e8 + 3]);
    expect(norm.variance).toBeCloseTo(2 / 3, 9);
  });

  it('has a floor, and undoes what it did', () => {
    const norm = createValueNorm();
    expect([norm.mean, norm.variance]).toEqual([0, 0.01]);
    norm.update([7, 7]);
    expect(norm.variance).toBe(0.01);
    expect(norm.normalise([7, 8])).toEqual(Float32Array.of(0, 10));
    expect(norm.denormalise([0, 10])).toEqual(Float32Array.of(7, 8));
  });

  it('does not look at rows of weight 0', () => {
    const norm = createValueNorm();
    norm.update([1, 2, 3, Number.NaN], [1, 1, 1, 0]);
    norm.update([Number.NaN], [0]);
    expect(norm.mean).toBeCloseTo(2, 12);
  });

  it('continues from a saved state to the bit', () => {
    const first = createValueNorm();
    first.update([1, 2]);
    const second = createValueNorm();
    second.restore(structuredClone(first.state()));
    for (const norm of [first, second]) norm.update([9, 1]);
    expect(second.state()).toEqual(first.state());
    expect(() => second.restore({})).toThrow(/valueNorm.restore/);
  });

  it('refuses options out of range', () => {
    expect(() => createValueNorm({ beta: 1 })).toThrow(
      /createValueNorm: option beta: expected a number to be <1, got 1/,
    );
    expect(() => createValueNorm({ varianceFloor: 0 })).toThrow(
      /createValueNorm: option varianceFloor: expected a number to be >0, got 0/,
    );
  });
});
