import { checkArgument, dtypeOf, fail, type NamedArrays, namedArrays } from '@coplay/core';

/**
 * Refuses saved parameters or optimiser slots whose names or shapes aren't those of the networks they are for.
 *
 * @param where  for the message: `PPO (agent_0): restore`
 * @throws CoplayError naming the first array that differs
 */
export function checkSavedArrays(where: string, expected: NamedArrays, saved: NamedArrays | undefined): void {
  if (saved !== undefined) checkArgument(where, 'saved', namedArrays, saved);
  const names = new Set([...Object.keys(expected), ...Object.keys(saved ?? {})]);
  for (const name of names) {
    const [wanted, got] = [expected, saved].map((arrays) => describe(arrays, name));
    if (wanted === got && dtypeOf(expected[name].data) === dtypeOf(saved![name].data)) continue;
    const remedy = 'Make the agent or model with the game, network and options that it was saved with.';
    if (wanted === got) fail(where, `${name} of ${dtypeOf(expected[name].data)}`, dtypeOf(saved![name].data), remedy);
    fail(where, wanted, got, remedy);
  }
}

function describe(arrays: NamedArrays | undefined, name: string): string {
  const array = arrays && Object.hasOwn(arrays, name) ? arrays[name] : undefined;
  return array ? `${name} of shape [${array.shape}]` : `no ${name}`;
}
