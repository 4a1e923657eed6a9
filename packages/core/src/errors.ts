import type { ZodType, z } from 'zod';

type ZodIssue = z.core.$ZodIssue;

/** What a {@link CoplayError} says: where it happened, what was expected, what came, how to mend it. */
export interface Complaint {
  /** The function or option that refused, as the user writes it: `stagHunt`, `vectorEnv.step`. */
  readonly where: string;
  /** What would have been accepted. */
  readonly expected: string;
  /** What came instead. */
  readonly got: string;
  /** What to do about it. */
  readonly remedy: string;
}

/** Every error that bad input causes. The fields of the complaint are kept, so that programs can read them. */
export class CoplayError extends Error {
  override readonly name = 'CoplayError';

  constructor(
    readonly complaint: Complaint,
    options?: ErrorOptions,
  ) {
    const { where, expected, got, remedy } = complaint;
    super(`${where}: expected ${expected}, got ${got}. ${remedy}`, options);
  }
}

/** Throws a {@link CoplayError}: `fail('stagHunt', 'size between 1 and 64', '0', 'Give a positive size.')`. */
export function fail(where: string, expected: string, got: string, remedy: string): never {
  throw new CoplayError({ where, expected, got, remedy });
}

/** A short, safe picture of any value, for error messages. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`;
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${(value as unknown as ArrayLike<number>).length})`;
  if (Array.isArray(value)) return `[${value.slice(0, 6).map(show).join(', ')}${value.length > 6 ? ', ...' : ''}]`;
  if (value !== null && typeof value === 'object') {
    const keys = Object.keys(value);
    return `{${keys.slice(0, 6).join(', ')}${keys.length > 6 ? ', ...' : ''}}`;
  }
  return String(value);
}

/**
 * Checks options against a (strict) zod schema and returns them with defaults filled in.
 * A misspelt name, a wrong type or a value out of range is refused, naming the option.
 *
 * @param where  the function whose options these are, for the message
 */
export function checkOptions<T>(where: string, schema: ZodType<T>, options: unknown): T {
  const result = schema.safeParse(options ?? {});
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = path ? [] : knownKeys(schema); // of a nested record they'd be others
    const asked = issue.keys.map((key) => JSON.stringify(key)).join(', ');
    const near = known.length > 0 ? `The options are: ${known.join(', ')}.` : 'Remove it.';
    fail(path ? `${where}: ${path}` : where, 'known options only', `the unknown option ${asked}`, near);
  }
  const given = issue.path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)?.[key], options);
  const message = expectation(issue);
  fail(
    path ? `${where}: option ${path}` : `${where}: options`,
    message,
    show(given),
    remedyFor(path, given, isRequired(schema, issue.path[0])),
  );
}

/** What would have been accepted, in the words of zod without its own sentence around them. */
function expectation(issue: ZodIssue): string {
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const branches = issue.errors.map((issues) => inPlace(issues[0]));
    return [...new Set(branches)].join(', or ');
  }
  return issue.message
    .replace(/^(Invalid (input|option): |Too (small|big): )?(expected )?/i, '')
    .replace(/, received .*$/, '')
    .replace(/^int\b/, 'a whole number')
    .replace(/^number\b/, 'a number')
    .replaceAll('|', ' | ');
}

/** The complaint of one branch of a union, which may be about a part of the value. */
function inPlace(issue: ZodIssue): string {
  const path = issue.path.map(String).join('.');
  return path ? `{ ${path}: ${expectation(issue)} }` : expectation(issue);
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

function knownKeys(schema: unknown): string[] {
  const shape = (schema as { shape?: Record<string, unknown> }).shape;
  return shape ? Object.keys(shape) : [];
}
