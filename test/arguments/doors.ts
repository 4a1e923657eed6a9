import { inspect } from 'node:util';
import { type Complaint, CoplayError } from '@coplay/core';

const cyclic: unknown[] = [];
cyclic.push(cyclic);
const knot: Record<string, unknown> = {};
knot['self'] = knot;

/** What is put in the place of each argument, by its name in messages. */
const wrong: Readonly<Record<string, unknown>> = {
  undefined: undefined,
  null: null,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-1': -1,
  '1.5': 1.5,
  '2**33': 2 ** 33,
  "''": '',
  "'x'": 'x',
  '[]': [],
  '{}': {},
  '[NaN]': [Number.NaN],
  "['x']": ['x'],
  '[null]': [null],
  'Uint16Array [7]': Uint16Array.of(7),
  'BigInt64Array [7n]': BigInt64Array.of(7n),
  'a cyclic array': cyclic,
  'a cyclic object': knot,
  'a sparse array': new Array(3),
  'a function': () => 1,
  '7n': 7n,
  'a symbol': Symbol('x'),
  true: true,
  'a promise': Promise.resolve(1),
};

/** Which of them each kind of argument may take; `?` behind a kind means that it may be left out. */
const fine: Readonly<Record<string, readonly string[]>> = {
  /** The name in a message that a check is given: no argument of a user's. */
  where: [],
  anything: [...Object.keys(wrong), 'longer'],
  nothing: [],
  number: ['-1', '1.5', '2**33'],
  limit: ['1.5', '2**33', 'Infinity'],
  positive: ['1.5', '2**33'],
  seed: ['2**33'],
  text: ["'x'"],
  path: [],
  boolean: ['true'],
  options: ['undefined', 'null', '{}'],
  record: ['{}'],
  list: ['[]'],
  numbers: ['[]', 'Uint16Array [7]', 'longer'],
  function: ['a function'],
};

/** A kind of {@link fine}, or a list of values that are fine. */
export type Takes = string | readonly string[];

/** A public function, and what it takes. */
export interface Door {
  /** Valid arguments, made anew for each call. */
  readonly give: () => readonly unknown[];
  /** What else each argument may be. */
  readonly takes: readonly Takes[];
  /** Other names under which it may refuse. */
  readonly as: readonly string[];
  /** Functions of what it returns: `()` for the returned function itself. */
  readonly methods: Readonly<Record<string, Door>>;
}

/** A row of a table of public functions. */
export function door(
  give: () => readonly unknown[],
  takes: readonly Takes[] = [],
  methods = {},
  as: readonly string[] = [],
): Door {
  return { give, takes, methods, as };
}

/** By exported name; a text says why a function has no row. */
export type Doors = Readonly<Record<string, Door | string>>;

/**
 * What the functions of a package do wrong with arguments that they can't use: each must be refused by an error of ours
 * that names the function, and must change nothing.
 *
 * @returns by function or method
 */
export async function faultsOf(
  exported: Readonly<Record<string, unknown>>,
  doors: Doors,
): Promise<Record<string, readonly string[]>> {
  const faults: Record<string, readonly string[]> = {};
  for (const [key, row] of Object.entries(doors)) {
    if (typeof row === 'string') continue;
    const call = exported[key] as Callee;
    faults[key] = await faultsAt(key, row, () => call);
    for (const [method, its] of Object.entries(row.methods)) {
      const make = async () => methodOf(await call(...row.give()), method);
      faults[`${key}().${method}`] = await faultsAt(method === '()' ? key : method, its, make);
    }
  }
  return Object.fromEntries(Object.entries(faults).filter(([, list]) => list.length > 0));
}

function methodOf(receiver: unknown, method: string): (...given: unknown[]) => unknown {
  if (method === '()') return receiver as (...given: unknown[]) => unknown;
  const own = (receiver as Record<string, (...given: unknown[]) => unknown>)[method];
  return Object.assign(own.bind(receiver), { receiver });
}

type Callee = ((...given: unknown[]) => unknown) & { readonly receiver?: unknown };

/** What a function does wrong: of each argument the values that it takes in silence, or refuses without its name. */
async function faultsAt(name: string, row: Door, make: () => Callee | Promise<Callee>): Promise<string[]> {
  const faults: string[] = [];
  const names = [name, ...row.as];
  const valid = await outcomeOf(names, await make(), row.give());
  if (valid !== 'taken') faults.push(`valid arguments: ${valid}`);
  for (let i = 0; i < row.give().length; i++) {
    const takes = labelsOf(row.takes[i] ?? 'nothing');
    if (row.takes[i] === 'where') continue;
    for (const [label, value] of Object.entries(valuesFor(row.give()[i]))) {
      if (row.takes[i] === 'path' && label === "'x'") continue; // it would be written
      const callee = await make();
      const before = picture(callee.receiver);
      const outcome = await outcomeOf(names, callee, row.give().with(i, value));
      if (outcome === 'refused') {
        if (picture(callee.receiver) !== before) faults.push(`argument ${i}: refused ${label}, but has changed`);
      } else if (outcome !== 'taken' || !takes.includes(label)) faults.push(`argument ${i}: ${label}: ${outcome}`);
    }
    for (const [path, argument] of brokenParts(row.give()[i])) {
      const outcome = await outcomeOf(names, await make(), row.give().with(i, argument));
      if (outcome !== 'refused' && outcome !== 'taken') faults.push(`argument ${i}: ${path}: ${outcome}`);
    }
  }
  return faults;
}

function labelsOf(takes: Takes): readonly string[] {
  if (typeof takes !== 'string') return takes;
  const kind = takes.replace('?', '');
  if (!Object.hasOwn(fine, kind)) throw new Error(`no such kind: ${kind}`);
  return takes.endsWith('?') ? [...fine[kind], 'undefined'] : fine[kind];
}

function valuesFor(valid: unknown): Readonly<Record<string, unknown>> {
  if (Array.isArray(valid) && valid.length > 0) return { ...wrong, longer: [...valid, valid[0]] };
  if (!ArrayBuffer.isView(valid)) return wrong;
  const typed = valid as Float32Array;
  const longer = new (typed.constructor as Float32ArrayConstructor)(typed.length + 1);
  return { ...wrong, longer };
}

/** A record with each of its entries replaced in turn: what must not lead to an error without a name. */
function* brokenParts(valid: unknown): Generator<[path: string, argument: unknown]> {
  if (typeof valid !== 'object' || valid === null || Object.getPrototypeOf(valid) !== Object.prototype) return;
  if ('stateSize' in valid) return; // what a game must keep is tested with checkGame and gameContract
  for (const key of Object.keys(valid)) {
    for (const label of ['undefined', 'null', 'NaN', "'x'", '[]', '{}', '[null]', '7n']) {
      yield [`${key}: ${label}`, { ...valid, [key]: wrong[label] }];
    }
  }
}

/** Equal before and after, if nothing has changed. */
function picture(receiver: unknown): string {
  return receiver === undefined ? '' : inspect(receiver, { depth: 6, maxArrayLength: 200, showProxy: false });
}

async function outcomeOf(names: readonly string[], callee: Callee, given: readonly unknown[]): Promise<string> {
  try {
    await callee(...given);
    return 'taken';
  } catch (error) {
    const complaint: Partial<Complaint> = error instanceof CoplayError ? error.complaint : {};
    if (names.some((name) => complaint.where?.includes(name))) return 'refused';
    return `refused without the name of ${names[0]}: ${String(error).slice(0, 160)}`;
  }
}
