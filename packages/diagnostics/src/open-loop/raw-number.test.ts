import { describe, expect, it } from 'vitest';
import { rawNumber } from './raw-number';

describe('a raw number', () => {
  it.each([
    [0, '0'],
    [1, '1'],
    [-3, '-3'],
    [0.12, '0.12'],
    [0.949, '0.95'],
    [12.34, '12.34'],
    [-0.5, '-0.50'],
    [3.14e-4, '3.1e-4'],
    [-0.02, '-0.020'],
    [0.9997, '1-3.0e-4'],
    [1.02, '1+0.020'],
    [-1.9996, '-2+4.0e-4'],
    [-0.98, '-1+0.020'],
    [200.001, '200+1.0e-3'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
  ])('%f is %s', (value, text) => {
    expect(rawNumber(value)).toBe(text);
  });

  it('is a whole number only where it is one', () => {
    for (let i = -4000; i < 4000; i++) {
      const value = i / 997 + 1e-9;
      expect(/^-?\d+$/.test(rawNumber(value)), String(value)).toBe(false);
      expect(/^-?\d+\.0+$/.test(rawNumber(value)), String(value)).toBe(false);
    }
  });
});
