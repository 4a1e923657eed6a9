import { fail, type NamedArrays, type NDArray, type Saved, type SavedState, show, type TypedArray } from '@coplay/core';
import { isTypedArray, sizeOf } from '@coplay/core/arrays';
import { checkArgument, namedArrays } from '@coplay/core/checks';
import { z } from 'zod';

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A saved state taken apart: its arrays by path, and a JSON tree that says where they go. */
export interface FlatState {
  /** Keys and list indices joined by `/`; a `/` or `%` inside a key is written `%2F` or `%25`. */
  readonly arrays: NamedArrays;
  /** The tree, in which objects with the key `$` stand for what JSON has no word for (see {@link flattenState}). */
  readonly json: Json;
}

const flatSchema = z.looseObject({ arrays: namedArrays, json: z.unknown() });

// Deeper than any state; a cycle would go on for ever.
const MAX_DEPTH = 100;

/**
 * Takes a saved state apart for a file of arrays and a file of JSON. {@link unflattenState} puts it together again,
 * exactly: kinds of arrays, shapes, -0, NaN and infinities, empty records and lists.
 *
 * In the JSON `{"$": "array"}` is a typed array and `{"$": "ndarray"}` one with a shape, both found under their path;
 * `{"$": "-0"}`, `"NaN"`, `"Infinity"`, `"-Infinity"` are numbers; `{"$": "record", "entries": {...}}` is a record that
 * itself has a key `$`.
 *
 * The arrays are the state's own, not copies.
 *
 * @throws CoplayError naming the path of anything that a checkpoint can't hold: undefined, functions, bigints, class
 *   instances, other kinds of arrays, an array whose shape doesn't fit its data, a cycle
 */
export function flattenState(saved: SavedState): FlatState {
  const found: [string, NDArray][] = [];
  const json = flatten(saved, [], found);
  // fromEntries defines keys, so that one named __proto__ is a key like any other.
  return { arrays: Object.fromEntries(found), json };
}

function flatten(value: Saved, path: readonly string[], found: [string, NDArray][]): Json {
  if (path.length > MAX_DEPTH) {
    refuse(path.slice(0, 3), `a tree of at most ${MAX_DEPTH} levels`, 'a deeper one, or a cycle', 'Save a tree.');
  }
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return flattenNumber(value);
  if (ArrayBuffer.isView(value)) {
    checkArray(value, path);
    found.push([pathName(path), { data: value, shape: [value.length] }]);
    return { $: 'array' };
  }
  if (Array.isArray(value)) return Array.from(value, (item, i) => flatten(item, [...path, String(i)], found));
  if (!isRecord(value)) {
    refuse(
      path,
      'numbers, strings, booleans, null, typed arrays, and records and lists of them',
      show(value),
      'Save its parts instead.',
    );
  }
  if (isNDArray(value)) {
    checkArray(value.data, path);
    found.push([pathName(path), { data: value.data, shape: checkedShape(value, path) }]);
    return { $: 'ndarray' };
  }
  const entries = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [encodeKey(key), flatten(item, [...path, key], found)]),
  );
  return Object.hasOwn(value, '$') ? { $: 'record', entries } : entries;
}

function flattenNumber(value: number): Json {
  if (Object.is(value, -0)) return { $: '-0' };
  return Number.isFinite(value) ? value : { $: String(value) };
}

/**
 * Puts together what {@link flattenState} took apart.
 *
 * @throws CoplayError for an array that is missing or that the JSON doesn't mention, or an unknown `$`
 */
export function unflattenState(flat: FlatState): SavedState {
  checkArgument('unflattenState', 'flat', flatSchema, flat);
  const used = new Set<string>();
  const saved = unflatten(flat.json, [], flat.arrays, used);
  const unused = Object.keys(flat.arrays).find((name) => !used.has(name));
  if (unused !== undefined) misfit(`an array ${show(unused)} that the JSON doesn't mention`);
  if (!isRecord(saved)) misfit(`a state that is ${show(saved)}`);
  return saved as SavedState;
}

function unflatten(json: Json, path: readonly string[], arrays: NamedArrays, used: Set<string>): Saved {
  if (json === null || typeof json !== 'object') return json;
  if (Array.isArray(json)) return json.map((item, i) => unflatten(item, [...path, String(i)], arrays, used));
  const record = json as { readonly [key: string]: Json };
  if (!Object.hasOwn(record, '$')) return unflattenEntries(record, path, arrays, used);
  switch (record['$']) {
    case 'array':
      return take(path, arrays, used).data;
    case 'ndarray':
      return take(path, arrays, used);
    case 'record':
      return unflattenEntries(checkedEntries(record['entries'], path), path, arrays, used);
    case '-0':
    case 'NaN':
    case 'Infinity':
    case '-Infinity':
      return Number(record['$']);
    default:
      return misfit(`the unknown mark ${show(record['$'])} at ${pathName(path)}`);
  }
}

function unflattenEntries(
  record: { readonly [key: string]: Json },
  path: readonly string[],
  arrays: NamedArrays,
  used: Set<string>,
): SavedState {
  return Object.fromEntries(
    Object.entries(record).map(([encoded, item]) => {
      const key = decodeKey(encoded);
      return [key, unflatten(item, [...path, key], arrays, used)];
    }),
  );
}

function checkedEntries(entries: Json | undefined, path: readonly string[]): { readonly [key: string]: Json } {
  if (entries !== null && typeof entries === 'object' && !Array.isArray(entries))
    return entries as { [key: string]: Json };
  return misfit(`a record without entries at ${pathName(path)}`);
}

function take(path: readonly string[], arrays: NamedArrays, used: Set<string>): NDArray {
  const name = pathName(path);
  if (!Object.hasOwn(arrays, name)) misfit(`no array ${show(name)}`);
  used.add(name);
  const { data, shape } = arrays[name];
  return { data, shape };
}

/** The name of an array: its keys joined by `/`. Different paths have different names. */
function pathName(path: readonly string[]): string {
  return path.map((key) => encodeKey(key).replaceAll('/', '%2F')).join('/');
}

/**
 * A key without characters that JSON writes as an escape: `%` and four hex digits instead. Node 24's JSON.parse
 * mistakes escaped keys of one character for one another ("\\n" for "\\\\") once it has seen the other in the same
 * place.
 */
function encodeKey(key: string): string {
  return key.replace(
    /[%"\\\p{Cc}\p{Cs}]/gu,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function decodeKey(key: string): string {
  return key.replace(/%([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** A plain object, also one of another realm; not an instance of a class. */
function isRecord(value: unknown): value is Readonly<Record<string, Saved>> {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || ArrayBuffer.isView(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function isNDArray(value: Readonly<Record<string, unknown>>): value is { data: TypedArray; shape: number[] } {
  return Object.keys(value).length === 2 && ArrayBuffer.isView(value['data']) && Array.isArray(value['shape']);
}

function checkArray(array: ArrayBufferView, path: readonly string[]): asserts array is TypedArray {
  // A Buffer is a Uint8Array whose slice() shares its memory, so that it would change with its source.
  if (isTypedArray(array) && array.constructor.name === array[Symbol.toStringTag]) return;
  refuse(path, 'a typed array of one of the dtypes of @coplay/core', show(array), 'Convert it first.');
}

function checkedShape(array: NDArray, path: readonly string[]): readonly number[] {
  const { data, shape } = array;
  const whole = shape.every((dimension) => Number.isSafeInteger(dimension) && dimension >= 0);
  if (!whole || sizeOf(shape) !== data.length) {
    refuse(path, `a shape of ${data.length} elements`, show(shape), 'Mend the shape.');
  }
  return shape.slice();
}

function refuse(path: readonly string[], expected: string, got: string, remedy: string): never {
  fail('flattenState', `${path.length > 0 ? pathName(path) : 'the state'} to be ${expected}`, got, remedy);
}

function misfit(got: string): never {
  fail('unflattenState', 'the arrays and the JSON of one state', got, 'Give both as flattenState made them.');
}
