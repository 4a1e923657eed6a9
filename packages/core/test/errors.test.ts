import { CoplayError, checkGame, checkOptions, evaluate, type Game, parallelEnv, show, vectorEnv } from '@coplay/core';
import { checkNumber, checkNumbers } from '@coplay/core/checks';
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
  it('lists options that the function takes elsewhere, and finds the one that was meant', () => {
    const message = (options: object) => () => checkOptions('f', schema, options, ['game']);
    expect(message({ steps: 1, foo: 2 })).toThrow('"foo". The options are: game, steps, rate, kind, inner.');
    expect(message({ steps: 1, Ra_te: 2 })).toThrow('"Ra_te". Did you mean rate? The options are: game, steps,');
    // One letter is missing, added, another one, or swapped with its neighbour; of short names no more than one.
    for (const close of ['stps', 'stepss', 'stebs', 'setps']) {
      expect(message({ steps: 1, [close]: 2 })).toThrow(`"${close}". Did you mean steps? The options are: game,`);
    }
    for (const far of ['stp', 'sptes', 'gaem1', '']) expect(message({ steps: 1, [far]: 2 })).not.toThrow('Did you');
    expect(message({ steps: 1, GAME: 2 })).toThrow('"GAME". Did you mean game? The options are: game, steps,');
  });

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
      'f: inner: expected known options only, got the unknown option "deep". The options are: depth.',
    ],
    [
      { steps: 1, rate: { from: 1, to: 0, over: 2 } },
      'f: rate: expected known options only, got the unknown option "over". The options are: from, to.',
    ],
    [
      { steps: 1, depth: 1 },
      'f: expected known options only, got the unknown option "depth". depth belongs in inner: { depth: ... }. ' +
        'The options are: steps, rate, kind, inner.',
    ],
    [
      { steps: 1, inner: { kind: 'a' } },
      'f: inner: expected known options only, got the unknown option "kind". kind belongs next to inner. ' +
        'The options are: depth.',
    ],
  ])('says what it expected of %j once, in words', (options, message) => {
    expect(complaintOf(options)).toBe(message);
  });
});

it('checkOptions lists the options of a record in a list, and of the branch of a union that the record fits', () => {
  const disc = z.strictObject({ shape: z.literal('disc'), radius: z.number() });
  const box = z.strictObject({
    shape: z.literal('box'),
    width: z.number(),
    lid: z.strictObject({ open: z.boolean() }),
  });
  const drawing = z.strictObject({ parts: z.array(z.union([disc, box])) });
  const draw = (part: object) => () => checkOptions('draw', drawing, { parts: [part] });
  expect(draw({ shape: 'disc', radius: 1, hue: 2 })).toThrow('parts.0: expected known options only');
  expect(draw({ shape: 'disc', radius: 1, hue: 2 })).toThrow('"hue". The options are: shape, radius.');
  expect(draw({ shape: 'box', width: 1, lid: { open: true }, hue: 2 })).toThrow('The options are: shape, width, lid.');
  expect(draw({ shape: 'box', width: 1, lid: { open: true, hue: 2 } })).toThrow('"hue". The options are: open.');
});

it('checkOptions refuses the name __proto__, which a schema of records leaves out without a word', () => {
  const records = z.looseObject({ inner: z.record(z.string(), z.unknown()).optional() });
  const refused = (json: string) => () => checkOptions('f', records, JSON.parse(json));
  const rest = 'expected known options only, got the name "__proto__". Remove it.';
  expect(refused('{"__proto__": 1}')).toThrow(`f: ${rest}`);
  expect(refused('{"inner": {"__proto__": 1}}')).toThrow(`f: option inner: ${rest}`);
  expect(refused('{"inner": {"a": [1, {"__proto__": 1}]}}')).toThrow(`f: option inner.a.1: ${rest}`);
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

  it('refuses undefined', async () => {
    const nothing = undefined as unknown as Game;
    expect(() => vectorEnv(nothing, { envs: 1 })).toThrow(CoplayError);
    await expect(evaluate(nothing, [])).rejects.toThrow(CoplayError);
  });
});

describe('show', () => {
  const cyclic: unknown[] = [1];
  cyclic.push(cyclic);
  const knot: Record<string, unknown> = { a: 1 };
  knot['self'] = knot;
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const thrower = {
    get a(): never {
      throw new Error('a getter');
    },
  };
  const throwers = Object.defineProperty([0], 0, {
    get: () => {
      throw new Error('an entry');
    },
  });
  it.each([
    ['a cyclic array', cyclic, '[1, [1, [1, [...]]]]'],
    ['a cyclic record', knot, '{a, self}'],
    ['a getter that throws', thrower, '{a}'],
    ['an entry that throws', throwers, 'object that cannot be read'],
    ['a revoked proxy', revoked, 'object that cannot be read'],
    ['a record without a prototype', Object.create(null), '{}'],
    ['a BigInt', 7n, '7n'],
    ['a symbol', Symbol('x'), 'Symbol(x)'],
    ['a promise', Promise.resolve(), 'Promise {}'],
    ['a view of bytes', new DataView(new ArrayBuffer(3)), 'DataView(3)'],
    ['a typed array', new Float32Array(2), 'Float32Array(2)'],
    ['a sparse array', new Array(2), '[undefined, undefined]'],
    ['a huge array', new Array(2 ** 32 - 1), `[${'undefined, '.repeat(6)}...]`],
    ['a huge typed array', new Uint8Array(1e6), 'Uint8Array(1000000)'],
    [
      'many keys',
      Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => [`k${i}`, 0])),
      '{k0, k1, k2, k3, k4, k5, ...}',
    ],
    ['a long text', 'x'.repeat(1e6), `"${'x'.repeat(57)}..."`],
  ])('pictures %s', (_what, value, picture) => {
    expect(show(value)).toBe(picture);
  });

  it('ends on an array of any depth', () => {
    let deep: unknown[] = [];
    for (let i = 0; i < 1e5; i++) deep = [deep];
    expect(show(deep)).toBe('[[[[...]]]]');
  });
});

describe('checkNumber', () => {
  it.each([
    [Number.NaN, {}, 'f: n: expected a finite number, got NaN. Change n.'],
    [undefined, {}, 'f: n: expected a finite number, got undefined. Give n a value.'],
    [1.5, { min: 1, max: 3, whole: true }, 'f: n: expected a whole number from 1 to 3, got 1.5. Change n.'],
    [0, { above: 0, infinite: true }, 'f: n: expected a number above 0, got 0. Change n.'],
    [1, { min: 0, below: 1 }, 'f: n: expected a finite number of at least 0 and below 1, got 1. Change n.'],
    [2n, {}, 'f: n: expected a finite number, got 2n. Change n.'],
  ])('says what it expected: case %#', (value, range, message) => {
    expect(() => checkNumber('f', 'n', value, range)).toThrow(message);
  });

  it('accepts the ends of a range', () => {
    for (const value of [1, 3]) checkNumber('f', 'n', value, { min: 1, max: 3, whole: true });
    checkNumber('f', 'n', Number.POSITIVE_INFINITY, { above: 0, infinite: true });
  });
});

describe('checkNumbers', () => {
  it.each([
    [[1, Number.NaN], {}, 'f: v: expected a finite number at index 1, got NaN. Change v[1].'],
    [Float32Array.of(Number.NaN), {}, 'f: v: expected a finite number at index 0, got NaN. Change v[0].'],
    [new Array(2), {}, 'f: v: expected a finite number at index 0, got undefined. Change v[0].'],
    [BigInt64Array.of(1n), {}, 'f: v: expected an array of numbers, got BigInt64Array(1). Change v.'],
    [[1], { length: 2 }, 'f: v: expected an array of 2 numbers, got [1]. Change v.'],
    [[], { atLeast: 1 }, 'f: v: expected an array of at least 1 number, got []. Change v.'],
    [
      Promise.resolve([1]),
      {},
      'f: v: expected an array of numbers, got Promise {}. Await it: give v the value that the promise resolves to.',
    ],
  ])('says what it expected: case %#', (values, range, message) => {
    expect(() => checkNumbers('f', 'v', values, range)).toThrow(message);
  });

  it('lets NaN through only where it may stand', () => {
    checkNumbers('f', 'v', [Number.NaN, 1], { nan: true });
    expect(() => checkNumbers('f', 'v', ['x'], { nan: true })).toThrow(CoplayError);
  });
});
