import { fail, type SavedState } from '@coplay/core';
import { expect, it } from 'vitest';
import { takeOverParts } from './restore';

/** A part that holds a number, and refuses some numbers. */
function part(value: number, refuses: (value: number) => boolean) {
  return {
    state: () => ({ value }),
    restore: (saved: SavedState) => {
      if (refuses(saved['value'] as number)) fail('part', 'another number', String(saved['value']), 'Give one.');
      value = saved['value'] as number;
    },
  };
}

it('takes all parts back, also past one that can not go back, and tells both failures', async () => {
  const [first, stubborn, last] = [part(1, () => false), part(2, (value) => value === 2), part(3, () => true)];
  const parts = [first, stubborn, last].map((one, i) => ({ path: `saved.${i}`, part: one, saved: { value: 7 } }));
  await expect(takeOverParts('restore', parts)).rejects.toThrow(
    /saved\.2: .*got 7.* Then a part could not go back to its state before: .*got 2/,
  );
  expect([first, stubborn, last].map((one) => one.state().value)).toEqual([1, 7, 3]);
});
