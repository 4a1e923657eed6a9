import { expect } from 'vitest';

/** Compares number by number, to `digits` decimals. */
export function expectNumbers(got: readonly number[], expected: readonly number[], digits = 6): void {
  expect(got.length).toBe(expected.length);
  for (const [i, value] of got.entries()) expect(value, `number ${i}`).toBeCloseTo(expected[i], digits);
}
