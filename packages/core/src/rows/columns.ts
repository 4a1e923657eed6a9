import { allocate, dtypeOf, sizeOf } from '../arrays';
import { copyRow } from '../experience';
import type { Generator } from '../generator';
import type { NDArray, TypedArray } from '../typed-arrays';

/** The rows at `indices` of one array [B, size], in that order: a copy. */
export function takeRows<Data extends TypedArray>(data: Data, indices: ArrayLike<number>, size: number): Data {
  const taken = allocate(dtypeOf(data), indices.length * size) as Data;
  for (let i = 0; i < indices.length; i++) copyRow(data, indices[i], taken, i, size);
  return taken;
}

/**
 * The rows of one seat, copied from the rows of all agents.
 *
 * @param data    [N, A, ...shape]
 * @param agents  A
 * @param shape   of one agent's part of a row. Default: a single number
 * @returns [N, ...shape]
 */
export function seatRows<Data extends TypedArray>(
  data: Data,
  seat: number,
  agents: number,
  shape: readonly number[] = [],
): NDArray<Data> {
  const size = sizeOf(shape);
  const rows = data.length / (agents * size);
  const taken = allocate(dtypeOf(data), rows * size) as Data;
  for (let row = 0; row < rows; row++) copyRow(data, row * agents + seat, taken, row, size);
  return { data: taken, shape: [rows, ...shape] };
}

/**
 * Puts the rows of one seat among those of all agents, in place.
 *
 * @param target  [N, A, size]
 * @param agents  A
 * @param values  [N, size]
 * @param size    of one agent's part of a row. Default 1
 */
export function putSeat(target: TypedArray, seat: number, agents: number, values: ArrayLike<number>, size = 1): void {
  for (let i = 0; i < values.length; i++) {
    target[(Math.floor(i / size) * agents + seat) * size + (i % size)] = values[i];
  }
}

/** The indices of the numbers that aren't 0, in rising order. */
export function nonZero(flags: ArrayLike<number>): Int32Array {
  const found: number[] = [];
  for (let i = 0; i < flags.length; i++) if (flags[i] !== 0) found.push(i);
  return Int32Array.from(found);
}

/** The arithmetic mean; NaN of no values. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum / values.length;
}

/**
 * Draws an index in proportion to weights, by one number of the generator. An index whose weight isn't above 0 is never
 * drawn.
 *
 * @param weights    they needn't sum to 1
 * @param generator  unchanged if no weight is above 0
 * @param offset     where the weights begin in the array. Default 0
 * @param count      how many weights there are. Default: all from `offset` on
 * @returns 0..count-1, counted from `offset`; -1 if no weight is above 0
 */
export function drawIndex(
  weights: ArrayLike<number>,
  generator: Pick<Generator, 'uniform'>,
  offset = 0,
  count: number = weights.length - offset,
): number {
  let sum = 0;
  for (let i = offset; i < offset + count; i++) if (weights[i] > 0) sum += weights[i];
  if (sum === 0) return -1;
  let left = generator.uniform() * sum;
  let last = -1;
  for (let i = 0; i < count; i++) {
    const weight = weights[offset + i];
    if (!(weight > 0)) continue;
    last = i;
    left -= weight;
    if (left < 0) break;
  }
  // Rounding may leave a little after the last weight.
  return last;
}
