/**
 * Every way in which a saved state may be damaged, and the outcome of `restore` for each: the common part of the tests
 * of restoring.
 */

import { isDeepStrictEqual } from 'node:util';
import { CoplayError, type SavedState } from '@coplay/core';

/** A damage of a state, and where it is. */
export interface Mutation {
  readonly path: readonly string[];
  readonly kind: string;
  /** A damaged copy; the undamaged parts are shared with the state. */
  make(): SavedState;
}

/** Something that is saved and restored. */
export interface Restorable {
  state(): SavedState | Promise<SavedState>;
  restore(saved: SavedState): void | Promise<void>;
}

/** How damages are tried. */
export interface TryOptions {
  /** Of all damages one in so many is tried, from the first on. Default 1 */
  readonly every?: number;
  /** Also all damages of the entries themselves, not only of what is inside of them. Default false */
  readonly outermost?: boolean;
  /** Makes another one, which has nothing yet: it must not take a damage either. */
  readonly another?: () => Restorable;
  /**
   * Damages that leave a good state, of an earlier version or of other data: 'mean, negative' for the entry `mean`
   * wherever it stands.
   */
  readonly good?: readonly string[];
}

/**
 * Every way to damage one entry of a state. The damaged copy is made only when it is tried: a state of networks has
 * thousands of entries.
 */
export function mutations(state: SavedState): Mutation[] {
  return [...damages(state, [])].map(({ path, kind, make }) => ({ path, kind, make: () => make() as SavedState }));
}

interface Damage {
  readonly path: readonly string[];
  readonly kind: string;
  make(): unknown;
}

function* damages(value: unknown, path: readonly string[]): Generator<Damage> {
  for (const [kind, make] of Object.entries(others(value))) yield { path, kind, make };
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  for (const name of Object.keys(value)) {
    const entries = value as Record<string, unknown>;
    const put = (inner: unknown) =>
      Array.isArray(value) ? value.with(Number(name), inner) : { ...entries, [name]: inner };
    if (!Array.isArray(value)) {
      const { [name]: _, ...rest } = entries;
      yield { path: [...path, name], kind: 'left out', make: () => rest };
    }
    for (const inner of damages(entries[name], [...path, name])) yield { ...inner, make: () => put(inner.make()) };
  }
}

/** What may stand in place of a value. */
function others(value: unknown): Record<string, () => unknown> {
  const wrong = { null: () => null, 'a text': () => 'text', NaN: () => Number.NaN };
  const common = { ...wrong, 'a record': () => ({}), 'a promise': () => Promise.resolve(value) };
  if (ArrayBuffer.isView(value)) {
    const array = value as Float64Array;
    return {
      ...common,
      'of another dtype': () => (array instanceof Float32Array ? Int16Array.from(array) : Float32Array.from(array)),
      'of clamped bytes': () => Uint8ClampedArray.from(array),
      bigints: () => new BigInt64Array(array.length),
      ...(array.length > 0 && { shortened: () => array.slice(0, -1) }),
      ...(array.length > 0 && isFloat(array) && { 'with a NaN': () => array.with(array.length - 1, Number.NaN) }),
      ...(array.length > 0 && isFloat(array) && { 'with an infinity': () => array.with(0, Number.NEGATIVE_INFINITY) }),
    };
  }
  if (Array.isArray(value)) return { ...common, ...(value.length > 0 && { truncated: () => value.slice(0, -1) }) };
  if (typeof value === 'number') {
    return { ...common, negative: () => -1 - Math.abs(value), infinite: () => Number.POSITIVE_INFINITY };
  }
  if (typeof value === 'string') return { ...common, 'a text': () => 7 };
  if (value === null) return { 'a text': wrong['a text'], NaN: wrong.NaN };
  return Object.keys(value as object).length === 0 ? wrong : common;
}

const isFloat = (array: ArrayBufferView) => array instanceof Float32Array || array instanceof Float64Array;

/**
 * Tries to restore damaged copies of a part's own state. A damage must be refused by an error of ours that names the
 * entry, and change nothing; or be taken without any effect.
 *
 * @returns what went wrong, a line for each
 */
export async function faultsOf(
  part: Restorable,
  { every = 1, outermost = false, another, good = [] }: TryOptions = {},
): Promise<string[]> {
  const before = await part.state();
  const faults: string[] = [];
  for (const [i, { path, kind, make }] of mutations(before).entries()) {
    if (i % every !== 0 && !(outermost && path.length < 2)) continue;
    const saved = make();
    const place = `${path.join('.') || 'all of it'}, ${kind}`;
    const error = await attempt(part, saved);
    const now = await part.state();
    const isGood = good.includes(`${path.at(-1) ?? 'all of it'}, ${kind}`) || isData(path, kind);
    if (another && !isGood) {
      const fresh = another();
      const refusal = await attempt(fresh, saved);
      if (refusal === undefined && !isDeepStrictEqual(await fresh.state(), before)) faults.push(`${place}: taken anew`);
      else if (refusal !== undefined && !(refusal instanceof CoplayError)) faults.push(`${place}: anew, ${refusal}`);
    }
    if (error === undefined) {
      if (!isGood && !isDeepStrictEqual(now, before)) faults.push(`${place}: taken`);
      await part.restore(before);
    } else {
      if (!(error instanceof CoplayError)) faults.push(`${place}: ${error}`);
      else if (!namesPlace(error, path)) faults.push(`${place}: not named in ${error.message}`);
      if (!isDeepStrictEqual(now, before)) faults.push(`${place}: refused, but something has changed`);
    }
  }
  return faults;
}

async function attempt(part: Restorable, saved: SavedState): Promise<unknown> {
  try {
    await part.restore(saved);
    return undefined;
  } catch (error) {
    return error ?? 'nothing';
  }
}

/** Rewards and observations may be any numbers: what takes NaN when it is pushed takes it from a file. */
function isData(path: readonly string[], kind: string): boolean {
  const isExtra = path.some((name) => name.startsWith('extras/')); // what agents add is theirs to name
  return isExtra || (kind.startsWith('with a') && path.some((name) => LIVED_THROUGH.includes(name)));
}

const LIVED_THROUGH = ['rows', 'rooms', 'real', 'imagined', 'collector', 'fresh', 'last'];

/** Whether an error names the entry or what it stands in; of entries of lists, the list. */
function namesPlace({ message }: CoplayError, path: readonly string[]): boolean {
  const names = path.filter((name) => !/^\d+$/.test(name) && !['data', 'shape'].includes(name));
  return names.length === 0 ? message.includes('restore') : names.slice(-2).some((name) => message.includes(name));
}
