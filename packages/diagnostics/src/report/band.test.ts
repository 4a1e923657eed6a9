import { expect, it } from 'vitest';
import { bandOverRuns } from '../statistics';
import { bandOf } from './band';

it('runs of the same steps get the interval of bandOverRuns', () => {
  const steps = [10, 20, 30];
  const curves = [
    { steps, values: [1, 2, 3] },
    { steps, values: [2, 2, 9] },
    { steps, values: [4, 2, 0] },
  ];
  const [fast, slow] = [bandOf(curves, 3), bandOverRuns(curves, 3)];
  expect(fast.steps).toEqual(slow.steps);
  for (const name of ['mean', 'lower', 'upper'] as const) {
    fast[name].forEach((value, i) => {
      expect(value).toBeCloseTo(slow[name][i], 9);
    });
  }
  expect(fast.upper[2] - fast.lower[2]).toBeGreaterThan(3);
});
