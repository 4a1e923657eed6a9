import { fail, type SavedState } from '@coplay/core';
import { checkArgument, checkNumbers, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';

/** Numbers that an agent keeps for each row (one of B parallel games), beyond episodes. */
export interface Memory<Name extends string> {
  /** The arrays, [B] each. Another number of rows than before makes all of them begin anew. */
  rows(count: number): Readonly<Record<Name, Int32Array>>;
  save(): SavedState;
  restore(saved: SavedState): void;
}

/**
 * Memory for each row.
 *
 * @param first  the names, and each row's initial value
 */
export function memoryPerRow<Name extends string>(where: string, first: Record<Name, number>): Memory<Name> {
  const names = Object.keys(first) as Name[];
  const savedSchema = z.looseObject(Object.fromEntries(names.map((name) => [name, typedArrays('int32')])));
  let arrays = fresh(0);

  function fresh(count: number): Record<Name, Int32Array> {
    const entries = names.map((name) => [name, new Int32Array(count).fill(first[name])]);
    return Object.fromEntries(entries) as Record<Name, Int32Array>;
  }

  return {
    rows(count) {
      if (arrays[names[0]].length !== count) arrays = fresh(count);
      return arrays;
    },
    save: () => Object.fromEntries(names.map((name) => [name, arrays[name].slice()])),
    restore(saved) {
      checkArgument(`${where}.restore`, 'saved', savedSchema, saved);
      const given = saved as Record<Name, Int32Array>;
      for (const name of names) checkNumbers(`${where}.restore`, `saved.${name}`, given[name], { min: 0 });
      const lengths = names.map((name) => given[name].length);
      if (new Set(lengths).size > 1) {
        const got = names.map((name, i) => `${lengths[i]} of ${name}`).join(' and ');
        fail(`${where}.restore`, 'arrays of the same length', got, 'Give what save() returned.');
      }
      arrays = Object.fromEntries(names.map((name) => [name, given[name].slice()])) as Record<Name, Int32Array>;
    },
  };
}
