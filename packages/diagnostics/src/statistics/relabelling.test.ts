import { describe, expect, it } from 'vitest';
import { permutationsOf } from './relabelling';
import { countSplits, forEachSplit } from './splits';

describe('permutationsOf', () => {
  it('gives every order once, the identity first', () => {
    expect(permutationsOf(3)[0]).toEqual([0, 1, 2]);
    const orders = permutationsOf(4).map((order) => order.join(''));
    expect(new Set(orders).size).toBe(24);
    expect(orders.every((order) => [...order].sort().join('') === '0123')).toBe(true);
  });
});

describe('forEachSplit', () => {
  it('visits every choice once', () => {
    const sums: number[] = [];
    forEachSplit([1, 10, 100, 1000], 2, (sum) => sums.push(sum));
    expect(sums.sort((a, b) => a - b)).toEqual([11, 101, 110, 1001, 1010, 1100]);
    expect(countSplits(4, 2)).toBe(6);
    expect(countSplits(10, 5)).toBe(252);
  });
});
