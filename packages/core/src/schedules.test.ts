import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { constant, cosine, every, linear, piecewise, ratio, until } from './schedules';

describe('schedules', () => {
  it('give their values at the start, in the middle and at the end', () => {
    expect([0, 0.5, 1].map(constant(3))).toEqual([3, 3, 3]);
    expect([0, 0.25, 1].map(linear(1, 0))).toEqual([1, 0.75, 0]);
    expect(cosine(1, 0)(0.5)).toBeCloseTo(0.5, 15);
    expect(cosine(1, 0)(1 / 3)).toBeCloseTo(0.75, 15); // (1 + cos 60 degrees) / 2
  });

  it('stay level beyond the ends: exactly `to`, never below (P17)', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, min: 0, max: 1e6 }),
        fc.double({ noNaN: true, min: -1, max: 3 }),
        (from, p) => {
          for (const schedule of [
            linear(from, 0),
            cosine(from, 0),
            piecewise([
              [0.1, from],
              [0.9, 0],
            ]),
          ]) {
            expect(schedule(p)).toBeGreaterThanOrEqual(0);
            expect(schedule(p)).toBeLessThanOrEqual(from);
            expect(schedule(1)).toBe(0);
            expect(schedule(1.7)).toBe(0);
            expect(schedule(-1)).toBe(schedule(0));
            expect(schedule(0)).toBe(from);
          }
        },
      ),
    );
    expect(linear(0.1, 0.3)(1)).toBe(0.3);
    expect(cosine(0.1, 0.3)(1)).toBe(0.3);
  });

  it('join points by straight lines, with jumps', () => {
    const schedule = piecewise([
      [0.2, 1],
      [0.4, 3],
      [0.4, 10],
      [0.8, 10],
    ]);
    expect([0, 0.2, 0.39999999, 0.4, 0.6, 1].map((p) => Math.round(schedule(p) * 100) / 100)).toEqual([
      1, 1, 3, 10, 10, 10,
    ]);
    expect(piecewise([[0.5, 7]])(0)).toBe(7);
  });

  it('refuse points out of order, none, and progress that is no number', () => {
    expect(() =>
      piecewise([
        [0.5, 1],
        [0.2, 2],
      ]),
    ).toThrow(/piecewise: expected points ordered by progress, got 0.2 at index 1/);
    expect(() => piecewise([])).toThrow(/at least one point/);
    expect(() => linear(1, 0)(Number.NaN)).toThrow(/progress between 0 and 1/);
  });
});

describe('the clocks of a loop', () => {
  it('every: true when a multiple was reached or passed', () => {
    const due = every(100);
    expect([0, 99, 100, 101, 350, 399, 400].map((steps) => due(steps))).toEqual([
      false,
      false,
      true,
      false,
      true,
      false,
      true,
    ]);
    expect(every(Infinity)(1e12)).toBe(false);
  });

  it('until: true while there are steps left', () => {
    const running = until(10);
    expect([0, 9, 10, 11].map(running)).toEqual([true, true, false, false]);
  });

  it('ratio: 1 at first, then as many updates as keep the ratio', () => {
    const due = ratio(0.25);
    expect([100, 103, 104, 106, 112, 112].map((steps) => due(steps))).toEqual([1, 0, 1, 0, 2, 0]);
    const many = ratio(3);
    expect([0, 1, 3].map((steps) => many(steps))).toEqual([1, 3, 6]);
  });

  it('ratio: a state of another ratio makes nothing due at once, and counts by the new one from there on', () => {
    const before = ratio(0.01);
    for (const steps of [0, 500, 1000]) before(steps);
    const after = ratio(1);
    after.restore(before.state());
    expect(after(1000)).toBe(0);
    expect(after(1010)).toBe(10);
  });

  it('every: a state of another period is due once at the next multiple of the new one', () => {
    const before = every(10);
    for (const steps of [40, 95]) before(steps);
    const after = every(7);
    after.restore(before.state());
    expect([95, 97, 98, 104, 105].map((steps) => after(steps))).toEqual([false, false, true, false, true]);
  });

  it('ratio: loses and invents nothing, however the steps come', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.array(fc.nat(40)), (period, jumps) => {
        const due = ratio(1 / period);
        due(0);
        let steps = 0;
        let updates = 0;
        for (const jump of jumps) {
          steps += jump;
          updates += due(steps);
        }
        expect(updates).toBe(Math.floor(steps / period));
      }),
    );
  });

  it('continue from a saved state as if they had never stopped', () => {
    for (const make of [() => every(7), () => ratio(0.3)]) {
      const whole = make();
      const first = make();
      for (let steps = 0; steps < 50; steps += 3) expect(first(steps)).toBe(whole(steps));
      const second = make();
      second.restore(structuredClone(first.state()));
      for (let steps = 51; steps < 100; steps += 3) expect(second(steps)).toBe(whole(steps));
    }
  });

  it('refuse periods that are not above 0', () => {
    expect(() => every(0)).toThrow(/every: n: expected a number above 0, got 0/);
    expect(() => ratio(-1)).toThrow(/ratio/);
  });
});
