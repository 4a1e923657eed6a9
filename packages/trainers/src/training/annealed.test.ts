import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { anneal, annealed, annealedUnit } from './annealed';

describe('anneal', () => {
  it('is the number itself, at any progress', () => {
    expect([0, 0.5, 1].map((progress) => anneal(0.3, progress))).toEqual([0.3, 0.3, 0.3]);
  });

  it('goes in a straight line from the start to the end', () => {
    expect([0, 0.25, 1].map((progress) => anneal({ from: 2, to: 4 }, progress))).toEqual([2, 2.5, 4]);
  });

  it('reaches its end at `by`, and stays there', () => {
    expect([0, 0.25, 0.5, 0.75, 1].map((progress) => anneal({ from: 1, to: 0, by: 0.5 }, progress))).toEqual([
      1, 0.5, 0, 0, 0,
    ]);
  });

  it('refuses a negative progress, and options that are not of this form', () => {
    expect(() => anneal(1, -0.1)).toThrow(/anneal: progress/);
    expect(() => anneal({ from: 1 } as never, 0)).toThrow(/anneal: option/);
    expect(() => anneal(Number.NaN, 0)).toThrow(/anneal: option/);
    expect(() => anneal({ from: 1, to: 0, by: 0 }, 0)).toThrow(/anneal: option/);
  });
});

describe('the schema of annealed options', () => {
  const takes = (schema: z.ZodType, values: readonly unknown[]) => values.map((one) => schema.safeParse(one).success);

  it('takes a number, or an object of two numbers and a share of the training in (0, 1]', () => {
    const good = [0.5, { from: 1, to: 0 }, { from: 1, to: 0, by: 1 }, { from: 0, to: 1, by: 0.01 }];
    expect(takes(annealedUnit, good)).toEqual([true, true, true, true]);
    const bad = [2, -1, { from: 1 }, { from: 1, to: 0, by: 0 }, { from: 1, to: 0, by: 1.1 }, { from: 1, to: 0, at: 1 }];
    expect(takes(annealedUnit, bad)).toEqual(bad.map(() => false));
  });

  it('may have another bound at the end than at the start', () => {
    const schema = annealed(z.number().positive(), z.number().min(0));
    expect(takes(schema, [{ from: 1, to: 0 }, { from: 0, to: 1 }, 0])).toEqual([true, false, false]);
  });
});
