import { inspect } from 'node:util';
import { CoplayError } from '@coplay/core';
import type { Complaint } from '@coplay/core/checks';

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
  // Made anew each time: `shuffle` fills the array that it receives.
  get 'a sparse array'() {
    return new Array(3);
  },
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

/**
 * A kind of {@link fine}, or a list of values that are fine; those with a `-` before them aren't tried, since they
 * would take too long.
 */
export type Takes = string | readonly string[];

/** A public function, and what it takes. */
export interface Door {
  /** Valid arguments, made for each call. */
  readonly give: () => readonly unknown[];
  /** What else each argument may be. */
  readonly takes: readonly Takes[];
  /** Other names under which it may refuse. */
  readonly as: readonly string[];
  /** Functions of what it returns: `()` for the returned function itself, `learner.update` for one of a part of it. */
  readonly methods: Readonly<Record<string, Door>>;
  /** Makes what it returns ready for its methods. */
  readonly prepare: (returned: never) => unknown;
}

/** A row of a table of public functions. */
export function door(
  give: () => readonly unknown[],
  takes: readonly Takes[] = [],
  methods = {},
  as: readonly string[] = [],
  prepare: (returned: never) => unknown = () => undefined,
): Door {
  return { give, takes, methods, as, prepare };
}

/** By exported name; a text says why a function has no row. */
export type Doors = Readonly<Record<string, Door | string>>;

/**
 * What the functions of a package do wrong with arguments that they can't use: each must be refused by an error of ours
 * that names the function, and must change nothing.
 *
 * @param makesAnew  whether a method that took something is tried on with a receiver made anew; agents take too long to
 *                   make
 * @returns by function or method
 */
export async function faultsOf(
  exported: Readonly<Record<string, unknown>>,
  doors: Doors,
  makesAnew = true,
): Promise<Record<string, readonly string[]>> {
  const faults: Record<string, readonly string[]> = {};
  for (const [key, row] of Object.entries(doors)) {
    if (typeof row === 'string') continue;
    const call = exported[key] as Callee;
    faults[key] = await faultsAt(key, row, () => call, makesAnew);
    for (const [path, its] of Object.entries(row.methods)) {
      const make = async () => {
        const returned = await call(...row.give());
        await row.prepare(returned as never);
        return methodOf(returned, path);
      };
      const name = path === '()' ? key : (path.split('.').at(-1) ?? path);
      faults[`${key}().${path}`] = await faultsAt(name, its, make, makesAnew);
    }
  }
  return Object.fromEntries(Object.entries(faults).filter(([, list]) => list.length > 0));
}

function methodOf(returned: unknown, path: string): Callee {
  if (path === '()') return returned as Callee;
  const names = path.split('.');
  const method = names.pop() as string;
  const receiver = names.reduce((part, name) => (part as Record<string, unknown>)[name], returned);
  const own = (receiver as Record<string, Callee>)[method];
  return Object.assign(own.bind(receiver), { receiver });
}

type Callee = ((...given: unknown[]) => unknown) & { readonly receiver?: unknown };

/** What a function does wrong: of each argument the values that it takes in silence, or refuses without its name. */
async function faultsAt(
  name: string,
  row: Door,
  make: () => Callee | Promise<Callee>,
  makesAnew: boolean,
): Promise<string[]> {
  const faults: string[] = [];
  const { attempt, watched } = attempts([name, ...row.as], make, makesAnew);
  const valid = await attempt(row.give());
  if (valid !== 'taken') faults.push(`valid arguments: ${valid}`);
  const [given, length] = [row.give(), row.give().length];
  for (let i = 0; i < length; i++) {
    const takes = labelsOf(row.takes[i] ?? 'nothing');
    if (row.takes[i] === 'where') continue;
    for (const [label, value] of Object.entries(valuesFor(given[i]))) {
      if (row.takes[i] === 'path' && label === "'x'") continue; // it would be written
      if (takes.includes(`-${label}`)) continue;
      const { outcome, hasChanged } = await watched(row.give().with(i, value));
      if (hasChanged) faults.push(`argument ${i}: refused ${label}, but has changed`);
      const isFine = outcome === 'refused' || (outcome === 'taken' && takes.includes(label));
      if (!isFine) faults.push(`argument ${i}: ${label}: ${outcome}`);
    }
    for (const [path, argument] of brokenParts(given[i])) {
      if (takes.includes(`-${path}`)) continue;
      const outcome = await attempt(row.give().with(i, argument));
      if (outcome !== 'refused' && outcome !== 'taken') faults.push(`argument ${i}: ${path}: ${outcome}`);
    }
  }
  return faults;
}

/**
 * Calls with one set of arguments after another: on the same receiver until it takes some, or on one for all. `watched`
 * also tells whether the receiver was changed by what it refused.
 */
function attempts(names: readonly string[], make: () => Callee | Promise<Callee>, makesAnew: boolean) {
  let callee: Callee | undefined;
  let before: string | undefined;
  const attempt = async (given: readonly unknown[]): Promise<string> => {
    callee ??= await make();
    const outcome = await outcomeOf(names, callee, given);
    before = undefined;
    if (outcome !== 'refused' && (makesAnew || outcome !== 'taken')) callee = undefined;
    return outcome;
  };
  const watched = async (given: readonly unknown[]): Promise<{ outcome: string; hasChanged: boolean }> => {
    callee ??= await make();
    const { receiver } = callee;
    const known = before ?? picture(receiver);
    const outcome = await attempt(given);
    if (outcome !== 'refused') return { outcome, hasChanged: false };
    before = picture(receiver);
    return { outcome, hasChanged: before !== known };
  };
  return { attempt, watched };
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
  return receiver === undefined ? '' : inspect(receiver, { depth: 4, maxArrayLength: 50, showProxy: false });
}

async function outcomeOf(names: readonly string[], callee: Callee, given: readonly unknown[]): Promise<string> {
  try {
    const made = await callee(...given);
    // The files of tests share a process, and with it what listens to the process's signals.
    if (made instanceof AbortSignal && 'dispose' in made) (made.dispose as () => void)();
    return 'taken';
  } catch (error) {
    const complaint: Partial<Complaint> = error instanceof CoplayError ? error.complaint : {};
    if (names.some((name) => complaint.where?.includes(name))) return 'refused';
    return `refused without the name of ${names[0]}: ${String(error).slice(0, 160)}`;
  }
}
