import { fail, type NamedArrays } from '@coplay/core';
import { dtypeOf } from '@coplay/core/arrays';
import { checkArgument, namedArrays } from '@coplay/core/checks';
import { findNonFinite } from './non-finite';

/**
 * Refuses saved parameters or optimiser slots whose names, shapes or dtypes differ from the networks', or that hold a
 * number that isn't finite.
 *
 * @param where  what restores them, for messages: `PPO (agent_0): restore`
 * @param path   where they stand in the saved state: `saved.params`
 * @throws CoplayError naming the first array that differs
 */
export function checkSavedArrays(
  where: string,
  path: string,
  expected: NamedArrays,
  saved: NamedArrays | undefined,
): void {
  if (saved !== undefined) checkArgument(where, path, namedArrays, saved);
  const names = new Set([...Object.keys(expected), ...Object.keys(saved ?? {})]);
  for (const name of names) {
    const [wanted, got] = [expected, saved].map((arrays) => describe(arrays, name));
    const remedy = 'Make the agent or model with the game, network and options that it was saved with.';
    if (wanted !== got) fail(`${where}: ${path}`, wanted, got, remedy);
  }
  checkFinite(`${where}: ${path}`, saved ?? {});
}

/**
 * Refuses saved arrays with a number that isn't finite.
 *
 * @throws CoplayError naming the array, the place in it and the number
 */
export function checkFinite(where: string, saved: NamedArrays): void {
  const bad = findNonFinite(saved);
  if (bad) fail(where, 'finite numbers', bad, 'Restore a state from before its numbers blew up.');
}

function describe(arrays: NamedArrays | undefined, name: string): string {
  if (!arrays || !Object.hasOwn(arrays, name)) return `no ${name}`;
  const { shape, data } = arrays[name];
  return `${name} of shape [${shape}], ${dtypeOf(data)}`;
}
