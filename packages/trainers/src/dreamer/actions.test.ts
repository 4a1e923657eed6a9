import { box, createGenerator, multiDiscrete, ndarray } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { checkRanges, drawerOf, recordedActions, recordedFault } from './actions';

const NONE = Number.NaN;
const space = box({ shape: [5], low: [-2, -Infinity, 3, -Infinity, 0], high: [2, Infinity, Infinity, 7, 10] });

describe('the values of a box in the replay', () => {
  it('are from -1 to 1 between its bounds; -1 to 1 without any, 2 wide where one is missing', () => {
    const given = Float32Array.of(1, 0.5, 3, 7, 0, ...[-2, 9, 6, 6, 10]);
    const { data, shape } = recordedActions(space, given, 0, 1, 5);
    expect(shape).toEqual([2, 5]);
    expect([...data]).toEqual([0.5, 0.5, -1, 1, -1, ...[-1, 1, 1, 0, 1]]);
  });

  it('are 0 where there was no action', () => {
    expect([...recordedActions(space, new Float32Array(5).fill(NONE), 0, 1, 5).data]).toEqual([0, 0, 0, 0, 0]);
  });

  it('are drawn by mean and deviation, clipped, and come back as they were drawn', () => {
    const mean = ndarray(Float32Array.of(0, 0, 0, 0, 0, ...[0.9, -0.9, 0.9, 0.9, -0.9]), [2, 5]);
    const stddev = ndarray(new Float32Array(10).fill(0.5), [2, 5]);
    const [generator, same] = [createGenerator(1), createGenerator(1)];
    const drawn = drawerOf(space)({ mean, stddev }, 2, generator);
    const units = Array.from(mean.data, (m) => Math.min(1, Math.max(-1, m + 0.5 * same.normal())));
    expect(units.some((unit) => Math.abs(unit) === 1)).toBe(true);
    expect(units.some((unit) => Math.abs(unit) < 1)).toBe(true);
    const back = recordedActions(space, drawn, 0, 1, 5).data;
    units.forEach((unit, i) => void expect(back[i]).toBeCloseTo(unit, 5));
    drawn.forEach((value, i) => {
      expect(value).toBeGreaterThanOrEqual(space.low[i % 5]);
      expect(value).toBeLessThanOrEqual(space.high[i % 5]);
    });
  });

  it('are taken out of the arrays of all agents', () => {
    // Two agents, three values each; the second one's first value is a box of its own.
    const own = box({ shape: [1], low: 0, high: 4 });
    const given = Float32Array.of(9, 9, 9, 1, 0, 0, 9, 9, 9, 4, 0, 0);
    expect([...recordedActions(own, given, 1, 2, 3).data]).toEqual([-0.5, 1]);
  });
});

describe('choices in the replay', () => {
  it('are whole numbers, -1 for none, also out of arrays of real numbers', () => {
    const { data, shape } = recordedActions(multiDiscrete([2, 3]), Float32Array.of(1, 2, NONE, NONE), 0, 1, 2);
    expect([data, shape]).toEqual([Int32Array.of(1, 2, -1, -1), [2, 2]]);
    const one = recordedActions(4, Float32Array.of(3, 0, NONE, NONE), 0, 1, 2);
    expect([one.data, one.shape]).toEqual([Int32Array.of(3, -1), [2]]);
  });

  it('are each drawn from their own distribution', () => {
    const logs = (...probs: number[]) => probs.map((p) => Math.log(p));
    const logProbs = ndarray(Float32Array.from([...logs(1, 0, 0, 0, 1), ...logs(0, 1, 0.25, 0.75, 0)]), [2, 5]);
    const generator = createGenerator(1);
    const draw = drawerOf(multiDiscrete([2, 3]));
    const seen = [0, 0, 0];
    for (let i = 0; i < 400; i++) {
      const [first, second, third, fourth] = draw({ logProbs }, 2, generator);
      expect([first, second, third]).toEqual([0, 2, 1]);
      seen[fourth]++;
    }
    expect(seen[2]).toBe(0);
    expect(Math.abs(seen[1] - 300)).toBeLessThan(50); // five standard deviations are 43
  });
});

describe('actions that the space lacks', () => {
  it.each([
    [3, [0, -1, 3], { expected: 'below 3', got: 3 }],
    [3, [0, 0.5], { expected: 'below 3', got: 0.5 }],
    [multiDiscrete([2, 3]), [1, 2, 2, 0], { expected: 'below 2', got: 2 }],
    [space, [0, 0, 0, 0, 1.5], { expected: 'from -1 to 1', got: 1.5 }],
    [3, [0, -1, 2], undefined],
    [multiDiscrete([2, 3]), [1, 2, -1, -1], undefined],
    [space, [0, 1, -1, 0, 0.5], undefined],
  ])('of %j among %j are found', (own, recorded, fault) => {
    expect(recordedFault(own, recorded)).toEqual(fault);
  });
});

it('ranges that 32 bits can not divide are refused', () => {
  const of = (low: number, high: number) => () => checkRanges('dreamerAgent', box({ shape: [1], low, high }));
  // Near 3e8 numbers of 32 bits are 32 apart, near 1e6 a sixteenth.
  expect(of(3e8, Infinity)).toThrow(
    /dreamerAgent: option game: expected a box .* got 300000000 to Infinity in value 0/,
  );
  expect(of(-Infinity, -1e30)).toThrow(/in value 0/);
  expect(of(1e6, Infinity)).not.toThrow();
  expect(of(-Infinity, Infinity)).not.toThrow();
});
