import type { CrossPlay } from '@coplay/core';
import { crossPlayHeatMap, crossPlaySummary, crossPlayTable } from '@coplay/diagnostics';
import { expect, it } from 'vitest';

const play = (seating: string[], ...returns: number[]) => ({ seating, returns: Float64Array.from(returns) });

/** Two policies, four episodes of each seating: with itself, `a` always earns 2, and `b` 1. */
const two: CrossPlay = {
  game: 'matrix',
  agents: ['x', 'y'],
  policies: ['a', 'b'],
  plays: [
    play(['a', 'a'], 2, 2, 2, 2, 2, 2, 2, 2),
    play(['b', 'b'], 1, 1, 1, 1, 1, 1, 1, 1),
    // a in x: it earns 0, 0, 0, 4 and b 3, 3, 0, 3
    play(['a', 'b'], 0, 3, 0, 3, 0, 0, 4, 3),
    // b in x: it earns 5 each time, and a 1
    play(['b', 'a'], 5, 1, 5, 1, 5, 1, 5, 1),
  ],
};

it('gives returns by pair and seat', () => {
  const { matrix } = crossPlaySummary(two);
  const [[aa, ab], [ba, bb]] = matrix;
  expect([aa.value.value, bb.value.value]).toEqual([2, 1]);
  // a among b: 1 on average in x, 1 in y.
  expect([ab.bySeat['x'].value, ab.bySeat['y'].value, ab.value.value]).toEqual([1, 1, 1]);
  // b among a: 5 in x, (3 + 3 + 0 + 3) / 4 in y.
  expect([ba.bySeat['x'].value, ba.bySeat['y'].value]).toEqual([5, 2.25]);
  expect(ba.value.value).toBe((5 + 2.25) / 2);
  expect([ba.bySeat['x'].lower, ba.bySeat['x'].upper]).toEqual([5, 5]);
  expect(ba.bySeat['y'].lower).toBeLessThan(2.25);
  expect(crossPlayHeatMap(crossPlaySummary(two)).values).toEqual([
    [2, 1],
    [3.625, 1],
  ]);
});

it('gives the gap between self-play and cross-play of each policy', () => {
  const { selfPlay, crossPlay, gap } = crossPlaySummary(two);
  // All seats of both mixed seatings: (0+3+0+3+0+0+4+3 + 4 * 6) / 16 = 37 / 16, for a and for b.
  expect(selfPlay.value).toBe(1.5);
  expect(crossPlay?.value).toBe(37 / 16);
  expect(gap?.value).toBe(1.5 - 37 / 16);
  expect([gap?.lower, gap?.upper]).toEqual([1 - 37 / 16, 2 - 37 / 16]);
  expect(gap?.count).toBe(2);
});

it('gives ratings by who earns more, with one imagined draw', () => {
  const { ratings } = crossPlaySummary(two);
  // Against b, a: loses, loses, draws, wins in x; loses four times in y: 1.5 of 8, and 2 of 9 with the imagined draw.
  const points = 400 * Math.log10(2 / 7);
  expect(ratings?.['a'].value).toBeCloseTo(1500 + points / 2, 8);
  expect(ratings?.['b'].value).toBeCloseTo(1500 - points / 2, 8);
  expect(ratings!['a'].lower).toBeLessThan(ratings!['a'].value);
});

it('gives ratings whose expected wins are the wins, also for three policies', () => {
  // In every pair each wins some: a beats b 3 of 4, b beats c 2 of 4, a beats c 1 of 4.
  const wins = { ab: 3, bc: 2, ac: 1 };
  const plays = Object.entries(wins).map(([pair, won]) => {
    return play([...pair], ...Array.from({ length: 4 }, (_, i) => (i < won ? [1, 0] : [0, 1])).flat());
  });
  const own = [...'abc'].map((name) => play([name, name], 0, 0));
  const mirrored = plays.map(({ seating, returns }) => {
    return play([...seating].reverse(), ...Array.from(returns.keys(), (i) => returns[i ^ 1]));
  });
  const { ratings } = crossPlaySummary({ ...two, policies: ['a', 'b', 'c'], plays: [...own, ...plays, ...mirrored] });
  const strength = (name: string) => 10 ** (ratings![name].value / 400);
  const chance = (one: string, other: string) => strength(one) / (strength(one) + strength(other));
  // Eight meetings of each pair and an imagined draw: 9. Wins: a 6.5 and 2.5, b 2.5 and 4.5, c 6.5 and 4.5.
  expect(9 * (chance('a', 'b') + chance('a', 'c'))).toBeCloseTo(9, 6);
  expect(9 * (chance('b', 'a') + chance('b', 'c'))).toBeCloseTo(7, 6);
  expect(9 * (chance('c', 'a') + chance('c', 'b'))).toBeCloseTo(11, 6);
});

it('names the best response among the policies, and what it gains', () => {
  const summary = crossPlaySummary(two);
  expect(summary.bestResponses).toEqual({ a: { policy: 'b', gain: 3.625 - 2 }, b: { policy: 'a', gain: 0 } });
  const [first] = crossPlayTable(summary);
  expect(first).toMatchObject({ policy: 'a', 'best response': 'b', gain: 1.625 });
});

it('takes one policy, and seats that never played', () => {
  const alone = { ...two, policies: ['a'], plays: [play(['a', 'a'], 2, Number.NaN, 4, 1)] };
  const summary = crossPlaySummary(alone);
  expect(summary.matrix[0][0].value.value).toBeCloseTo((2 + 4 + 1) / 3, 12);
  expect(summary.gap).toBeUndefined();
});

it('refuses plays in which policies never met', () => {
  const some = { ...two, plays: two.plays.slice(0, 2) };
  expect(() => crossPlaySummary(some)).toThrow('a play of a among agents of b');
});
