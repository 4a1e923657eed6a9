import { createGenerator } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { addNoise, gamma } from './noise';

describe('root noise', () => {
  it.each([1, 2, 7])('of fraction 1 replaces the prior by numbers that sum to 1 over %d legal actions', (legal) => {
    const priors = new Float32Array(9).fill(-1);
    priors.fill(1 / legal, 1, 1 + legal);
    addNoise(priors, 1, 8, { alpha: 0.3, fraction: 1 }, createGenerator(1));
    const own = Array.from(priors.subarray(1, 1 + legal));
    expect(own.reduce((a, b) => a + b)).toBeCloseTo(1, 6);
    expect(new Set(own).size).toBe(legal);
    expect(own.every((p) => p >= 0)).toBe(true);
    expect(Array.from(priors).filter((p) => p === -1).length).toBe(9 - legal);
  });

  it('of fraction 0.25 leaves three quarters of the prior', () => {
    const priors = Float32Array.of(0.8, 0.2, -1);
    addNoise(priors, 0, 3, { alpha: 1, fraction: 0.25 }, createGenerator(1));
    expect(priors[0]).toBeGreaterThanOrEqual(0.6);
    expect(priors[0]).toBeLessThanOrEqual(0.85);
    expect(priors[0] + priors[1]).toBeCloseTo(1, 6);
  });

  it.each([0.3, 1, 4.5])('gamma(%d) has its mean and its variance, both alpha', (alpha) => {
    const generator = createGenerator(2);
    const samples = Float64Array.from({ length: 40_000 }, () => gamma(alpha, generator));
    const mean = samples.reduce((a, b) => a + b) / samples.length;
    const variance = samples.reduce((sum, x) => sum + (x - mean) ** 2, 0) / samples.length;
    expect(Math.abs(mean - alpha)).toBeLessThan(5 * Math.sqrt(alpha / 40_000));
    expect(Math.abs(variance / alpha - 1)).toBeLessThan(0.1);
  });
});
