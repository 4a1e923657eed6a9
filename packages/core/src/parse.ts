import type { ZodType, z } from 'zod';
import { fail } from './fail';
import { show } from './show';

type ZodIssue = z.core.$ZodIssue;

/** A schema's complaint about a value. */
interface Misfit {
  readonly success: false;
  /** Where in the value: `cuts.env`; '' for the value itself. */
  readonly path: string;
  readonly expected: string;
  readonly got: unknown;
  /** Absent where the value can't even be read. */
  readonly issue?: ZodIssue;
}

/** The data of a value that fits a zod schema, or the first misfit in words. */
export function parse<T>(
  where: string,
  schema: ZodType<T>,
  value: unknown,
): { readonly success: true; readonly data: T } | Misfit {
  if (typeof schema?.safeParse !== 'function') {
    fail(`${where}: schema`, 'a zod schema', show(schema), 'Make one with z.strictObject({ ... }).');
  }
  // To zod a promise is a record without entries.
  if (value instanceof Promise)
    return { success: false, path: '', expected: 'a value that has been awaited', got: value };
  try {
    const result = schema.safeParse(value);
    if (result.success) return { success: true, data: result.data };
    const issue = result.error.issues[0];
    const got = issue.path.reduce<unknown>((part, key) => (part as Record<PropertyKey, unknown>)?.[key], value);
    return { success: false, path: issue.path.map(String).join('.'), expected: expectation(issue), got, issue };
  } catch {
    return { success: false, path: '', expected: 'a value that can be read', got: value }; // a getter or a proxy threw
  }
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
