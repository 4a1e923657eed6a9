import { fail } from './fail';
import { show } from './show';
import { type DType, isNumberArray, TAGS, tagOf } from './typed-arrays';

/*
 * Checks of single values. They need no schemas, so that a page's script that uses them stays small; those by schema
 * are in checks.ts.
 */

/** Which numbers {@link checkNumber} accepts. All limits are optional. */
export interface NumberRange {
  /** The least number that is accepted. */
  readonly min?: number;
  /** The greatest number that is accepted. */
  readonly max?: number;
  /** Only numbers above this one are accepted. */
  readonly above?: number;
  /** Only numbers below this one are accepted. */
  readonly below?: number;
  /** Whether only whole numbers are accepted. Default false */
  readonly whole?: boolean;
  /** Whether Infinity and -Infinity are accepted within the limits. Default false */
  readonly infinite?: boolean;
}

/**
 * Refuses anything but a number in a range. NaN is never accepted.
 *
 * @param where  the function whose argument it is, for the message
 * @param name   the argument's name
 */
export function checkNumber(where: string, name: string, value: unknown, range: NumberRange = {}): void {
  if (typeof value === 'number' && isWithin(value, range)) return;
  fail(`${where}: ${name}`, describeRange(range), show(value), remedyFor(name, value));
}

function isWithin(value: number, { min, max, above, below, whole, infinite }: NumberRange): boolean {
  if (Number.isNaN(value) || (!Number.isFinite(value) && !infinite)) return false;
  if (whole && Number.isFinite(value) && !Number.isSafeInteger(value)) return false;
  if (min !== undefined && value < min) return false;
  if (max !== undefined && value > max) return false;
  if (above !== undefined && value <= above) return false;
  return below === undefined || value < below;
}

function describeRange({ min, max, above, below, whole, infinite }: NumberRange): string {
  const kind = whole ? 'a whole number' : infinite ? 'a number' : 'a finite number';
  const limits = [
    min !== undefined && max !== undefined ? `from ${min} to ${max}` : undefined,
    min !== undefined && max === undefined ? `of at least ${min}` : undefined,
    min === undefined && max !== undefined ? `of at most ${max}` : undefined,
    above !== undefined ? `above ${above}` : undefined,
    below !== undefined ? `below ${below}` : undefined,
  ];
  return [kind, limits.filter((limit) => limit !== undefined).join(' and ')].join(' ').trimEnd();
}

/**
 * Refuses anything but a whole number that arrays can be sized by.
 *
 * @param where  the function whose argument it is, for the message
 * @param name   the argument's name
 * @param least  the smallest accepted value
 */
export function checkCount(where: string, name: string, value: unknown, least = 0): void {
  const max = 2 ** 31 - 1;
  const isTooMuch = typeof value === 'number' && value > max;
  checkNumber(where, name, value, { min: least, whole: true, ...(isTooMuch && { max }) });
}

/** Which lists of numbers {@link checkNumbers} accepts. */
export interface NumbersRange extends NumberRange {
  /** How many numbers there must be. Default: any number of them */
  readonly length?: number;
  /** How many numbers there must be at least. Default 0 */
  readonly atLeast?: number;
  /** Whether NaN is accepted too, for arrays whose padding may hold anything. Default false */
  readonly nan?: boolean;
}

/**
 * Refuses anything but an array or a typed array of numbers. Every entry is looked at, holes of sparse arrays too.
 *
 * @param where  the function whose argument it is, for the message
 * @param name   the argument's name
 */
export function checkNumbers(where: string, name: string, values: unknown, range: NumbersRange = {}): void {
  const { length, atLeast = 0, nan = false } = range;
  const isList = Array.isArray(values) || isNumberArray(values);
  if (!isList || (length !== undefined && values.length !== length) || values.length < atLeast) {
    const count = length !== undefined ? `${length} ` : atLeast > 0 ? `at least ${atLeast} ` : '';
    const kind = length === 1 || (length === undefined && atLeast === 1) ? 'number' : 'numbers';
    fail(`${where}: ${name}`, `an array of ${count}${kind}`, show(values), remedyFor(name, values));
  }
  if (isNumberArray(values) && (nan || !/^Float/.test(tagOf(values))) && isUnlimited(range)) return;
  for (let i = 0; i < values.length; i++) {
    const value: unknown = values[i];
    if (typeof value === 'number' && (isWithin(value, range) || (nan && !Number.isFinite(value)))) continue;
    fail(`${where}: ${name}`, `${describeRange(range)} at index ${i}`, show(value), `Change ${name}[${i}].`);
  }
}

function isUnlimited({ min, max, above, below, whole }: NumberRange): boolean {
  return min === undefined && max === undefined && above === undefined && below === undefined && !whole;
}

/**
 * Refuses anything but a typed array of one element type and length. The values in it aren't looked at.
 *
 * @param where  the function whose argument it is, for the message
 * @param name   the argument's name
 */
export function checkTypedArray(where: string, name: string, value: unknown, dtype: DType, length: number): void {
  if (isNumberArray(value) && tagOf(value) === TAGS[dtype] && value.length === length) return;
  fail(`${where}: ${name}`, `${TAGS[dtype]} of ${length} values`, show(value), remedyFor(name, value));
}

/** Objects of the language that have no fields, as `Object.prototype.toString` calls them. */
const FIELDLESS = /^\[object (Map|Set|WeakMap|WeakSet|Date|RegExp|ArrayBuffer|SharedArrayBuffer|Promise)\]$/;

/**
 * Refuses anything but an object with fields: no array, no typed array, no Map, no promise.
 *
 * @param where  the function whose argument it is, for the message
 * @param name   the argument's name
 */
export function checkRecord(where: string, name: string, value: unknown): void {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
  if (isRecord && !FIELDLESS.test(Object.prototype.toString.call(value))) return;
  fail(`${where}: ${name}`, 'a record', show(value), remedyFor(name, value));
}

/** Whether a value is a record and no instance of a class, whose fields may be hidden getters. */
export function isPlainRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Object.prototype.toString.call(value) !== '[object Object]') {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null; // of this realm or of another one
}

/**
 * Refuses anything but a text that isn't empty.
 *
 * @param where  the function whose argument it is, for the message
 * @param name   the argument's name
 */
export function checkText(where: string, name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  fail(`${where}: ${name}`, 'a text that is not empty', show(value), remedyFor(name, value));
}

/**
 * Refuses anything but a function.
 *
 * @param where  the function whose argument it is, for the message
 * @param name   the argument's name
 */
export function checkFunction(where: string, name: string, value: unknown): void {
  if (typeof value === 'function') return;
  fail(`${where}: ${name}`, 'a function', show(value), remedyFor(name, value));
}

/** What to do about an argument that isn't accepted. */
export function remedyFor(name: string, value: unknown): string {
  if (value === undefined) return `Give ${name} a value.`;
  return value instanceof Promise
    ? `Await it: give ${name} the value that the promise resolves to.`
    : `Change ${name}.`;
}
