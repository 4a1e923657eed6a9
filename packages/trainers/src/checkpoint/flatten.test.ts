import { deepStrictEqual } from 'node:assert';
import { CoplayError, type Saved, type SavedState, type TypedArray } from '@coplay/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeSafetensors } from './decode-safetensors';
import { type FlatState, flattenState, unflattenState } from './flatten';
import { encodeSafetensors } from './safetensors';

/** Through the bytes of both files and back. */
function throughFiles(saved: SavedState): SavedState {
  const { arrays, json } = flattenState(saved);
  const bytes = new Uint8Array(Buffer.concat(encodeSafetensors(arrays)));
  return unflattenState({ arrays: decodeSafetensors(bytes).arrays, json: JSON.parse(JSON.stringify(json)) });
}

const typedArray: fc.Arbitrary<TypedArray> = fc.oneof(
  fc.uint8Array({ maxLength: 9 }),
  fc.int8Array({ maxLength: 9 }),
  fc.uint16Array({ maxLength: 9 }),
  fc.int16Array({ maxLength: 9 }),
  fc.uint32Array({ maxLength: 9 }),
  fc.int32Array({ maxLength: 9 }),
  fc.float32Array({ maxLength: 9 }),
  fc.float64Array({ maxLength: 9 }),
);
/** A shape of 0 to 4 dimensions, zeros among them, and data that fills it. */
const shaped = fc.array(fc.nat(3), { maxLength: 4 }).map((shape) => {
  const size = shape.reduce((product, dimension) => product * dimension, 1);
  return { data: Int16Array.from({ length: size }, (_, i) => i - 2), shape };
});
const oddKeys = ['', '/', '%', '%2F', '%000a', 'a/b', '$', '__proto__', 'constructor', '0', 'data', 'length', 'é'];
/** One character that JSON writes as an escape: Node 24 mistakes them for one another. */
const escapedKeys = ['\\', '\n', '\t', '"', '\ud800', '\udfff'];
const key = fc.oneof(fc.constantFrom(...oddKeys, ...escapedKeys), fc.string({ maxLength: 5 }));
const { tree } = fc.letrec<{ tree: Saved; record: SavedState; list: Saved[] }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.string(),
      fc.double(),
      fc.constantFrom(-0, Number.NaN, Infinity, -Infinity),
    ),
    typedArray,
    shaped,
    tie('record'),
    tie('list'),
  ),
  record: fc.array(fc.tuple(key, tie('tree')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  list: fc.array(tie('tree'), { maxLength: 4 }),
}));
const state = fc
  .array(fc.tuple(key, tree), { maxLength: 6 })
  .map((entries) => Object.fromEntries(entries) as SavedState);

describe('flattenState and unflattenState', () => {
  test('escaped keys of one character are not mistaken for one another', () => {
    for (const first of escapedKeys) {
      for (const second of escapedKeys) {
        throughFiles({ a: 1, [first]: 2 });
        expect(Object.keys(throughFiles({ a: 1, [second]: 2 }))).toEqual(['a', second]);
      }
    }
  });

  test('any tree comes back exactly through both files', () => {
    fc.assert(
      fc.property(state, (saved) => {
        deepStrictEqual(throughFiles(saved), saved); // tells -0 from 0, and kinds of arrays
      }),
      { numRuns: 500 },
    );
  });

  test('arrays are named by their path, and the JSON says what they were', () => {
    const w = { data: Float32Array.of(1, 2), shape: [2, 1] };
    const flat = flattenState({ agents: [{ 'a/b': w }, { step: 3, '50%': Uint8Array.of(9) }], empty: {}, none: [] });
    expect(flat.arrays).toEqual({ 'agents/0/a%2Fb': w, 'agents/1/50%0025': { data: Uint8Array.of(9), shape: [1] } });
    expect(flat.json).toEqual({
      agents: [{ 'a/b': { $: 'ndarray' } }, { step: 3, '50%0025': { $: 'array' } }],
      empty: {},
      none: [],
    });
  });

  test('names that look the same stay apart', () => {
    const one = (value: number): Uint8Array => Uint8Array.of(value);
    const saved = { 'a/b': one(1), a: { b: one(2), '': one(3) }, 'a%2Fb': one(4), '': one(5) };
    expect(Object.keys(flattenState(saved).arrays)).toHaveLength(5);
    deepStrictEqual(throughFiles(saved), saved);
  });

  test('the bits of a NaN survive', () => {
    const bits = Uint32Array.of(0x7fc0dead, 0xffc00001);
    const back = throughFiles({ x: new Float32Array(bits.buffer) })['x'] as Float32Array;
    expect(new Uint32Array(back.buffer)).toEqual(bits);
  });

  test('a view is saved as what it shows, and comes back with memory of its own', () => {
    const whole = Float64Array.of(1, 2, 3, 4);
    const back = throughFiles({ x: whole.subarray(1, 3) })['x'] as Float64Array;
    expect(back).toEqual(Float64Array.of(2, 3));
    expect(back.buffer.byteLength).toBe(16); // 2 elements of 8 bytes
  });

  const cycle: Record<string, unknown> = {};
  cycle['again'] = cycle;
  class Counter {
    count = 1;
  }
  const refused: [string, unknown, RegExp][] = [
    ['undefined', { a: [1, undefined] }, /a\/1 to be numbers.*got undefined/],
    ['a hole', { a: new Array(2) }, /a\/0 to be/],
    ['a function', { a: { act() {} } }, /a\/act .*got function act/],
    ['a bigint', { n: 1n }, /n to be .*got 1/],
    ['a class instance', { counter: new Counter() }, /counter to be .*got Counter \{count\}/],
    ['a map', { m: new Map() }, /m to be/],
    ['a 64-bit array', { n: new BigInt64Array(2) }, /n to be a typed array of one of the dtypes.*BigInt64Array\(2\)/],
    ['a clamped array', { n: new Uint8ClampedArray(2) }, /n to be a typed array/],
    ['a buffer', { n: Buffer.from('x') }, /n to be a typed array.*Convert/],
    [
      'a shape that does not fit',
      { w: { data: new Uint8Array(5), shape: [2, 3] } },
      /w to be a shape of 5 elements, got \[2, 3\]/,
    ],
    ['a broken dimension', { w: { data: new Uint8Array(2), shape: [0.5, 4] } }, /w to be a shape of 2 elements/],
    ['a cycle', cycle, /again\/again\/again to be a tree of at most 100 levels/],
  ];
  test.each(refused)('%s is refused by its path', (_, saved, message) => {
    expect(() => flattenState(saved as SavedState)).toThrow(CoplayError);
    expect(() => flattenState(saved as SavedState)).toThrow(message);
  });

  const misfits: [string, FlatState, RegExp][] = [
    ['a missing array', { arrays: {}, json: { a: { $: 'array' } } }, /no array "a"/],
    [
      'an array too many',
      { arrays: { b: { data: new Uint8Array(1), shape: [1] } }, json: {} },
      /"b" that the JSON doesn't mention/,
    ],
    ['an unknown mark', { arrays: {}, json: { a: { $: 'date' } } }, /unknown mark "date" at a/],
    ['a record without entries', { arrays: {}, json: { a: { $: 'record' } } }, /record without entries at a/],
    ['a state that is a list', { arrays: {}, json: [] }, /a state that is \[\]/],
  ];
  test.each(misfits)('%s is refused', (_, flat, message) => {
    expect(() => unflattenState(flat)).toThrow(CoplayError);
    expect(() => unflattenState(flat)).toThrow(message);
  });
});
