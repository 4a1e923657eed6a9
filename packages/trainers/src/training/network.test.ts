import { createGenerator, type Generator, type NamedArrays, ndarray } from '@coplay/core';
import type { Variables } from '@coplay/tensor';
import { expect, it } from 'vitest';
import { Network } from './network';

/** A function that notes when it is disposed of. */
const named = (name: string, gone: string[]) => ({ name, dispose: () => void gone.push(name) });

/** A network of one number and one slot; its function has a new name each time that it is made. */
function tiny() {
  const gone: string[] = [];
  let made = 0;
  const network = new Network({
    name: 'tiny',
    init: (generator: Generator): Record<'params' | 'slots', NamedArrays> => ({
      params: { w: ndarray(Float32Array.of(generator.uniform())) },
      slots: { m: ndarray(Float32Array.of(0)) },
    }),
    slots: ['slots'],
    functions: (_: Readonly<Record<'params' | 'slots', Variables>>) => ({ act: named(`act ${made++}`, gone) }),
  });
  return { network, gone };
}

const saved = (w: number) => ({
  params: { w: ndarray(Float32Array.of(w)) },
  slots: { m: ndarray(Float32Array.of(2)) },
});

const weight = async (network: ReturnType<typeof tiny>['network']) => (await network.read()).params['w'].data[0];

it('has parameters from the first initialise on, and none after dispose', async () => {
  const { network, gone } = tiny();
  expect(() => network.functions).toThrow(/tiny: expected parameters, got none yet/);
  network.initialise(createGenerator(1));
  const first = Math.fround(createGenerator(1).uniform());
  expect(await weight(network)).toBe(first);
  network.initialise(createGenerator(2));
  expect(await weight(network)).toBe(first);
  network.dispose();
  expect(gone).toEqual(['act 0']);
  expect(network.isReady).toBe(false);
  expect(() => network.initialise(createGenerator(1))).toThrow(
    /tiny: expected a learner in use, got one that was disposed/,
  );
});

it('takes over a saved state, and goes back to the one from before until that is kept', async () => {
  const { network, gone } = tiny();
  network.initialise(createGenerator(1));
  const [before, { groups }] = [await weight(network), network];
  const undone = network.takeOver('restore', 'saved', saved(5));
  expect(await weight(network)).toBe(5);
  await undone.undo();
  expect(await weight(network)).toBe(before);
  expect(network.groups).toBe(groups);
  expect(gone).toEqual(['act 1']);
  network.takeOver('restore', 'saved', saved(6)).keep();
  expect(await weight(network)).toBe(6);
  expect(gone).toEqual(['act 1', 'act 0']);
});

it('without parameters it goes back to having none; disposed, to being so', async () => {
  const { network } = tiny();
  await network.takeOver('restore', 'saved', saved(5)).undo();
  expect(network.isReady).toBe(false);
  network.dispose();
  await network.takeOver('restore', 'saved', saved(5)).undo();
  expect(() => network.initialise(createGenerator(1))).toThrow(/disposed/);
  network.takeOver('restore', 'saved', saved(7)).keep();
  expect(await weight(network)).toBe(7);
});

it('refuses the state of another network, and keeps its own', async () => {
  const { network, gone } = tiny();
  network.initialise(createGenerator(1));
  const before = await network.read();
  const others = {
    'no slots': { params: saved(1).params },
    'another shape': { ...saved(1), params: { w: ndarray(Float32Array.of(1, 2)) } },
    'no number': saved(Number.NaN),
  };
  for (const other of Object.values(others)) {
    expect(() => network.takeOver('restore', 'saved', other)).toThrow(/restore: saved\.(params|slots)/);
  }
  expect(await network.read()).toEqual(before);
  expect(gone).toEqual([]);
});

it('replaces functions, and disposes of the old functions that are not kept', () => {
  const { network, gone } = tiny();
  network.initialise(createGenerator(1));
  const { functions } = network;
  network.replace({ ...functions });
  expect(gone).toEqual([]);
  const other = named('other', gone);
  network.replace({ act: other });
  expect(gone).toEqual(['act 0']);
  expect(network.functions.act).toBe(other);
});

it('flushes denormal numbers of the slots in every eighth update', async () => {
  const { network } = tiny();
  const denormal = { params: { w: ndarray(Float32Array.of(1e-40)) }, slots: { m: ndarray(Float32Array.of(1e-40)) } };
  network.takeOver('restore', 'saved', denormal).keep();
  const slot = async () => (await network.read()).slots['m'].data[0];
  for (const updates of [1, 7, 9]) network.tidy(updates);
  expect(await slot()).toBe(Math.fround(1e-40));
  network.tidy(16);
  expect(await slot()).toBe(0);
  expect(await weight(network)).toBe(Math.fround(1e-40));
});
