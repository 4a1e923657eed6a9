import { allocate, dtypeOf, type NamedArrays, type NDArray, sizeOf, type TypedArray } from '@coplay/core';

/** The same arrays as inputs of a step: `vector` becomes `actor/vector`. */
export function prefixInputs(prefix: 'actor' | 'critic', arrays: NamedArrays): NamedArrays {
  return Object.fromEntries(Object.entries(arrays).map(([name, array]) => [`${prefix}/${name}`, array]));
}

/** One seat's numbers `[E T, ...]` of an array `[E, T, A, ...]`. */
export function seatRows(data: TypedArray, seat: number, agents: number, shape: readonly number[] = []): NDArray {
  const size = sizeOf(shape);
  const rows = data.length / (agents * size);
  const taken = allocate(dtypeOf(data), rows * size);
  for (let row = 0; row < rows; row++) {
    const from = (row * agents + seat) * size;
    for (let i = 0; i < size; i++) taken[row * size + i] = data[from + i];
  }
  return { data: taken, shape: [rows, ...shape] };
}

/** Puts one seat's numbers `[rows]` into an array `[rows, A]`. */
export function putSeat(target: Float32Array, seat: number, agents: number, values: ArrayLike<number>): void {
  for (let row = 0; row < values.length; row++) target[row * agents + seat] = values[row];
}

/** `[E T, ...]` as sequences `[E T / L, L, ...]`. */
export function inSequences(arrays: NamedArrays, length: number): NamedArrays {
  return Object.fromEntries(
    Object.entries(arrays).map(([name, { data, shape }]) => {
      return [name, { data, shape: [shape[0] / length, length, ...shape.slice(1)] }];
    }),
  );
}

/** The indices at which flags are set. */
export function indicesOf(flags: ArrayLike<number>): Int32Array {
  const found: number[] = [];
  for (let i = 0; i < flags.length; i++) if (flags[i] !== 0) found.push(i);
  return Int32Array.from(found);
}

/**
 * Sets the rows of an absent agent to 0, in place. They have weight 0, but NaN or infinity times 0 would still be NaN,
 * and a recurrent state would carry it on.
 *
 * @param arrays  [E T, ...] each
 * @param active  [E T]
 */
export function clearAbsent(arrays: NamedArrays, active: ArrayLike<number>): void {
  for (const { data } of Object.values(arrays)) {
    const size = data.length / active.length;
    for (let row = 0; row < active.length; row++) {
      if (active[row] === 0) data.fill(0, row * size, (row + 1) * size);
    }
  }
}
