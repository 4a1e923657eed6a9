import type { ZodType } from 'zod';
import { isPlainRecord } from './check-values';
import { fail } from './fail';
import { closestName, namesAt, placesOf } from './option-names';
import { parse } from './parse';
import { show } from './show';

export * from './fail';
export { show } from './show';

/**
 * Checks options against a (strict) zod schema and returns them with defaults filled in. A misspelt name, a wrong type
 * or a value out of range is refused, naming the option; so is the name `__proto__`, which JSON can hold and schemas
 * leave out without a word.
 *
 * @param where   the function whose options these are, for the message
 * @param others  names of options that the function takes as well and `options` leaves out, for the list in the message
 */
export function checkOptions<T>(
  where: string,
  schema: ZodType<T>,
  options: unknown,
  others: readonly string[] = [],
): T {
  const result = parse(where, schema, options ?? {});
  if (result.success) {
    refusePrototype(where, '', options);
    return result.data;
  }
  const { issue, path, expected, got } = result;
  if (issue?.code === 'unrecognized_keys') {
    const known = [...(path ? [] : others), ...namesAt(schema, issue.path, got)];
    const asked = issue.keys.slice(0, MOST_SHOWN).map(show).join(', ');
    const remedy = remedyForUnknown(issue.keys[0], path, known, schema);
    fail(path ? `${where}: ${path}` : where, 'known options only', `the unknown option ${asked}`, remedy);
  }
  fail(
    path ? `${where}: option ${path}` : `${where}: options`,
    expected,
    show(got),
    remedyFor(path, got, isRequired(schema, issue?.path[0])),
  );
}

/** @param known  names of the record at `path`, which doesn't have `name` */
function remedyForUnknown(name: string, path: string, known: readonly string[], schema: unknown): string {
  const list = known.length > 0 ? `The options are: ${known.join(', ')}.` : 'Remove it.';
  const meant = known.find((other) => plain(other) === plain(name));
  if (meant !== undefined) return `Did you mean ${meant}? ${list}`;
  const places = placesOf(name, schema).slice(0, MOST_SHOWN);
  if (places.length === 0) {
    const close = closestName(name, known);
    return close === undefined ? list : `Did you mean ${close}? ${list}`;
  }
  const [outer] = path.split('.');
  const words = places.map((place) => (place === '' ? `next to ${outer}` : `in ${place}: { ${name}: ... }`));
  return `${name} belongs ${words.join(', or ')}. ${list}`;
}

/** `learning_rate` and `LearningRate` read as `learningRate`. */
const plain = (name: string) => name.replace(/[^a-z0-9]/gi, '').toLowerCase();

// A stranger's file may have thousands.
const MOST_SHOWN = 5;

/** Looks into records and lists, as JSON makes them; not into instances of classes, and not into games. */
function refusePrototype(where: string, path: string, options: unknown, seen = new Set<unknown>()): void {
  if (seen.has(options)) return; // options may hold themselves
  seen.add(options);
  const inside = (name: string | number) => (path === '' ? String(name) : `${path}.${name}`);
  if (Array.isArray(options)) {
    options.forEach((entry, i) => {
      if (typeof entry === 'object') refusePrototype(where, inside(i), entry, seen);
    });
    return;
  }
  if (!isPlainRecord(options) || hasFunctions(options)) return;
  if (Object.hasOwn(options, '__proto__')) {
    fail(path ? `${where}: option ${path}` : where, 'known options only', 'the name "__proto__"', 'Remove it.');
  }
  for (const [name, entry] of Object.entries(options)) {
    if (typeof entry === 'object') refusePrototype(where, inside(name), entry, seen);
  }
}

function hasFunctions(record: Readonly<Record<string, unknown>>): boolean {
  return Object.values(record).some((entry) => typeof entry === 'function');
}

function remedyFor(path: string, given: unknown, mustBeGiven: boolean): string {
  const what = path || 'the options';
  if (given === undefined) return `Give ${what} a value.`;
  return mustBeGiven ? `Change ${what}.` : `Change ${what}, or leave it out for the default.`;
}

/** Whether an option has no default. */
function isRequired(schema: unknown, option: PropertyKey | undefined): boolean {
  const fields = (schema as { shape?: Record<PropertyKey, ZodType> }).shape;
  const field = option === undefined ? undefined : fields?.[option];
  return field !== undefined && !field.safeParse(undefined).success;
}
