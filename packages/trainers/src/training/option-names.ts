import { z } from 'zod';

/** Of an option whose value is checked later. */
export const unchecked = z.unknown().optional();

/**
 * The schema of a record of options whose owner checks the values later. It checks the names, so that a message about
 * an unknown option can list them, and can say in which record of an agent's options it belongs.
 *
 * @param names    of the options, or their schema
 * @param what     the record in words, for messages
 * @param without  names in the schema that the agent gives itself
 */
export function optionNames(
  names: readonly string[] | { readonly shape: object },
  what: string,
  without: readonly string[] = [],
) {
  const all = 'shape' in names ? Object.keys(names.shape) : names;
  const own = all.filter((name) => !without.includes(name));
  return z.strictObject(Object.fromEntries(own.map((name) => [name, unchecked])), { error: what });
}
