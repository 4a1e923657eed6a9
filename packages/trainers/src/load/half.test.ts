import { describe, expect, it } from 'vitest';
import { fromHalves, toHalves } from './half';

describe('halves', () => {
  it.each([
    // By the definition of IEEE 754: sign, exponent + 15, fraction.
    [1, 0x3c00],
    [-2, 0xc000],
    [65504, 0x7bff],
    [2 ** -24, 0x0001],
    [2 ** -14, 0x0400],
    [0, 0x0000],
    [-0, 0x8000],
    [Number.POSITIVE_INFINITY, 0x7c00],
    [1 / 3, 0x3555],
  ])('of %d are %i', (value, half) => {
    expect([...toHalves(Float32Array.of(value))]).toEqual([half]);
  });

  it('round to the nearest, ties to the even one, and what is too large to infinity', () => {
    // Next to 1, halves are 2^-10 apart; next to 2048, they are 2 apart.
    expect([
      ...fromHalves(toHalves(Float32Array.of(1 + 2 ** -11, 1 + 3 * 2 ** -11, 2049, 2051, 65519, 65520))),
    ]).toEqual([1, 1 + 2 ** -9, 2048, 2052, 65504, Number.POSITIVE_INFINITY]);
  });

  it('give all 65,536 values back', () => {
    const all = Uint16Array.from({ length: 65_536 }, (_, i) => i).filter((half) => (half & 0x7fff) <= 0x7c00);
    expect(toHalves(fromHalves(all))).toEqual(all);
    expect(fromHalves(toHalves(Float32Array.of(Number.NaN)))).toEqual(Float32Array.of(Number.NaN));
  });
});
