/**
 * A set of cells inside the state of a game: one bit a cell in {@link setWords} consecutive int32 values, from `offset`
 * on. It's small (2 values for an 8x8 grid), and equal sets are equal arrays, for any order in which cells were added.
 */

/** The number of int32 values that a set over `cells` cells takes. */
export function setWords(cells: number): number {
  return Math.ceil(cells / 32);
}

/** 1 where the set holds the cell, else 0. */
export function hasCell(state: Int32Array, offset: number, cell: number): number {
  return (state[offset + (cell >>> 5)] >>> (cell & 31)) & 1;
}

/** Puts a cell into the set. */
export function addCell(state: Int32Array, offset: number, cell: number): void {
  state[offset + (cell >>> 5)] |= 1 << (cell & 31);
}

/** Takes a cell out of the set. */
export function removeCell(state: Int32Array, offset: number, cell: number): void {
  state[offset + (cell >>> 5)] &= ~(1 << (cell & 31));
}

/** Empties a set of `words` values. */
export function clearSet(state: Int32Array, offset: number, words: number): void {
  for (let word = 0; word < words; word++) state[offset + word] = 0;
}

/**
 * Writes the cells of a set of `words` values to `list`, from `start` on, in reading order.
 *
 * @returns where the list ends: start + the number of cells
 */
export function listCells(
  state: Int32Array,
  offset: number,
  words: number,
  list: Int32Array | number[],
  start = 0,
): number {
  let end = start;
  for (let word = 0; word < words; word++) {
    let bits = state[offset + word];
    while (bits !== 0) {
      list[end++] = word * 32 + lowestBit(bits);
      bits &= bits - 1;
    }
  }
  return end;
}

/** The position, 0 to 31, of the lowest bit that is set. */
export function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
