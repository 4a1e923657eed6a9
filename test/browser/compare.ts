import { expect } from 'vitest';

/** The largest |a - b| / max(1, |b|). */
export function worstDifference(a: readonly number[], b: readonly number[]): number {
  expect(a.length).toBe(b.length);
  return a.reduce((worst, value, i) => Math.max(worst, Math.abs(value - b[i]) / Math.max(1, Math.abs(b[i]))), 0);
}

/** The same over arrays with names; the names must agree. */
export function worstOf(
  a: Readonly<Record<string, readonly number[]>>,
  b: Readonly<Record<string, readonly number[]>>,
): number {
  expect(Object.keys(a)).toEqual(Object.keys(b));
  return Math.max(...Object.keys(a).map((name) => worstDifference(a[name], b[name])));
}
