import { createGenerator, type Generator, type NamedArrays, ndarray, type SavedState } from '@coplay/core';
import { expect, it } from 'vitest';
import { Networks, type PerGroup } from './networks';

/** Two networks of one number and one slot, with a function for each and one for both. */
function pair() {
  const gone: string[] = [];
  const named = (name: string) => ({ name, dispose: () => void gone.push(name) });
  const networks = new Networks({
    name: 'pair',
    names: ['b', 'a'],
    init: (generator: Generator): PerGroup<NamedArrays> => ({
      params: { w: ndarray(Float32Array.of(generator.uniform())) },
      slots: { m: ndarray(Float32Array.of(1e-40)) },
    }),
    functions: (members) => ({ act: members.map((_, i) => named(`act ${i}`)), all: named('all') }),
  });
  return { networks, gone };
}

const weights = async ({ networks }: ReturnType<typeof pair>) => {
  return Object.entries(await networks.readMembers()).map(([name, { params }]) => [name, params['w'].data[0]]);
};

it('each network has parameters of its own, drawn in the order of the names', async () => {
  const two = pair();
  two.networks.initialise(createGenerator(1));
  const generator = createGenerator(1);
  expect(await weights(two)).toEqual([
    ['b', Math.fround(generator.uniform())],
    ['a', Math.fround(generator.uniform())],
  ]);
  const read = two.networks.members.map(async ({ params }) => (await params.read())['w'].data[0]);
  expect(await Promise.all(read)).toEqual((await weights(two)).map(([, weight]) => weight));
  two.networks.dispose();
  expect(two.gone).toEqual(['act 0', 'act 1', 'all']);
});

it('flushes the slots of all, and replaces functions in lists', async () => {
  const { networks, gone } = pair();
  networks.initialise(createGenerator(1));
  networks.tidy(0);
  for (const { slots } of Object.values(await networks.readMembers())) expect(slots['m'].data[0]).toBe(0);
  const { functions } = networks;
  networks.replace({ ...functions, act: [functions.act[0], functions.act[0]] });
  expect(gone).toEqual(['act 1']);
});

it('takes over what it gave, and refuses the state of a network that is missing or another by its name', async () => {
  const [two, other] = [pair(), pair()];
  two.networks.initialise(createGenerator(1));
  other.networks.initialise(createGenerator(2));
  const saved = (await other.networks.readMembers()) as unknown as Record<string, SavedState>;
  two.networks.takeOver('restore', 'saved', saved).keep();
  expect(await weights(two)).toEqual(await weights(other));
  const { b, a } = saved;
  expect(() => two.networks.takeOver('restore', 'saved', { b })).toThrow(/restore: saved\.a\.params: .*got no w/);
  expect(() => two.networks.takeOver('restore', 'saved', { b, a: { ...a, slots: {} } })).toThrow(/saved\.a\.slots/);
  expect(await weights(two)).toEqual(await weights(other));
});
