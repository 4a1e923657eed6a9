import { elements, type Value } from '../../graph';
import { type Batch, type Column, isReadOutside, sourceOf } from './batches';

/**
 * Microseconds that a node takes in addition to the time for its numbers, as measured with ONNX Runtime 1.30 on one
 * thread.
 */
const NODE = 0.9;

/** Microseconds that a part of a Concat or Split takes in addition to the time for its numbers. */
const PART = 0.1;

/** Microseconds that each number takes, in arrays that fit into a fast cache, and in others. */
const NUMBER = { few: 0.0001, many: 0.0001 };

/** Numbers of an array that fits into a fast cache. */
const FEW = 65_536;

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
  return NODE + size * (size > FEW ? NUMBER.many : NUMBER.few);
}

function moving(steps: number, size: number): number {
  return steps * PART + pass(steps * size);
}

function isSame(a: Column, b: Column): boolean {
  return a.values.length === b.values.length && a.values.every((value, i) => value === b.values[i]);
}
