import { fail, isArrayOf, type SavedState, show } from '@coplay/core';

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
 * @param first  the names, and what each row begins with
 */
export function memoryPerRow<Name extends string>(where: string, first: Record<Name, number>): Memory<Name> {
  const names = Object.keys(first) as Name[];
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
      const restored = names.map((name) => {
        const array = saved[name];
        if (!isArrayOf('int32', array)) {
          fail(`${where}.restore`, `${name} as an Int32Array`, show(array), 'Give what save() returned.');
        }
        return [name, array.slice()];
      });
      arrays = Object.fromEntries(restored) as Record<Name, Int32Array>;
    },
  };
}
