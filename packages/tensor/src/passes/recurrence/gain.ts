import { elements, type Value } from '../../graph';
import { type Batch, type Column, isReadOutside, sourceOf } from './batches';

/*
 * Microseconds, as measured with ONNX Runtime 1.30 on one thread. The comments give the sizes of graphs of
 * `npm run bench -- compile` for other values. Their times differed by less than the noise of a busy machine (some 5%),
 * unless a comment gives a difference.
 */

/**
 * A node, in addition to the time for its numbers. Trades fewer nodes for copies. Halved, gru-64-256 has 1,904 nodes
 * instead of 1,216, and doubled 1,159. With 0, nothing is batched: gru-64-64 has 1,904 instead of 1,159 and takes 12%
 * longer.
 */
const NODE = 0.9;

/**
 * A part of a Concat or Split, in addition to the time for its numbers. Halved, only Dreamer's graphs change (7,532
 * instead of 7,560 nodes in nano with 16 x 32 steps), and doubled, recurrence has 3,107 instead of 3,094 nodes. With 0,
 * gru-64-256 has 1,159 instead of 1,216.
 */
const PART = 0.1;

/** Each number. Half of it acts as twice {@link NODE}, and twice as half of it: 1,159 and 1,904 nodes in gru-64-256. */
const NUMBER = 0.0001;

/** About how many microseconds it saves to compute these batches at once. */
export function gainOf(batches: readonly Batch[], uses: ReadonlyMap<Value, number>): number {
  let gain = 0;
  const joined: Column[] = [];
  for (const batch of batches) {
    const steps = batch.members.length;
    const size = elements(batch.members[0].outputs[0]);
    gain += steps * pass(size) - pass(steps * size);
    if (isReadOutside(batch, batches, uses)) gain -= moving(steps, size);
    for (const column of batch.columns) {
      if (column.role === 'shared' || sourceOf(column, batches) || joined.some((other) => isSame(other, column)))
        continue;
      joined.push(column);
      gain -= moving(steps, elements(column.values[0]!));
    }
  }
  return gain;
}

function pass(size: number): number {
  return NODE + size * NUMBER;
}

function moving(steps: number, size: number): number {
  return steps * PART + pass(steps * size);
}

function isSame(a: Column, b: Column): boolean {
  return a.values.length === b.values.length && a.values.every((value, i) => value === b.values[i]);
}
