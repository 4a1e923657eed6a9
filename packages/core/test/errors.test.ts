import { CoplayError, checkGame, checkOptions, evaluate, type Game, parallelEnv, vectorEnv } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { clockGame } from './clock-game';

const schema = z.strictObject({
  steps: z.int().min(1),
  rate: z.union([z.number(), z.strictObject({ from: z.number(), to: z.number() })]).default(1),
  kind: z.enum(['a', 'b']).default('a'),
  inner: z.strictObject({ depth: z.int().optional() }).default({}),
});
const complaintOf = (options: unknown) => {
  try {
    checkOptions('f', schema, options);
  } catch (error) {
    return (error as CoplayError).message;
  }
  return 'no complaint';
};

describe('checkOptions', () => {
  it.each([
    [{ steps: 1.5 }, 'f: option steps: expected a whole number, got 1.5. Change steps.'],
    [{ steps: Number.NaN }, 'f: option steps: expected a number, got NaN. Change steps.'],
    [{}, 'f: option steps: expected a number, got undefined. Give steps a value.'],
    [
      { steps: 1, kind: 'c' },
      'f: option kind: expected one of "a" | "b", got "c". Change kind, or leave it out for the default.',
    ],
    [
      { steps: 1, rate: 'x' },
      'f: option rate: expected a number, or object, got "x". Change rate, or leave it out for the default.',
    ],
    [
      { steps: 1, rate: { from: 1 } },
      'f: option rate: expected a number, or { to: a number }, got {from}. Change rate, or leave it out for the default.',
    ],
    [
      { steps: 1, inner: { deep: 1 } },
      'f: inner: expected known options only, got the unknown option "deep". Remove it.',
    ],
  ])('says what it expected of %j once, in words', (options, message) => {
    expect(complaintOf(options)).toBe(message);
  });
});

describe('checkGame', () => {
  const maker = clockGame as unknown as Game;
  it.each([
    ['vectorEnv', () => vectorEnv(maker, { envs: 1 })],
    ['parallelEnv', () => parallelEnv(maker)],
    ['checkGame', () => checkGame('checkGame', maker)],
  ])('%s refuses the function that makes a game, and says to call it', (where, use) => {
    expect(use).toThrow(`${where}: expected a game, such as stagHunt(), got function clockGame. Call it.`);
  });

  it('refuses what is nothing', async () => {
    const nothing = undefined as unknown as Game;
    expect(() => vectorEnv(nothing, { envs: 1 })).toThrow(CoplayError);
    await expect(evaluate(nothing, [])).rejects.toThrow(CoplayError);
  });
});
