import type { NamedArrays, NDArray, TypedArray } from '@coplay/core';
import type { Compiled } from '../compile';
import { gatherCalls } from './gather-calls';

/**
 * A compiled function whose inputs and outputs all are [B, ...] with independent rows, such as a policy: calls that meet
 * (made in the same turn of the event loop) run as one batch.
 */
export function mergeRows(compiled: Compiled): Compiled {
  const call = gatherCalls<NamedArrays, NamedArrays>(async (calls) => {
    if (calls.length === 1 || new Set(calls.map(rowKind)).size > 1)
      return Promise.all(calls.map((inputs) => compiled(inputs)));
    const rows = calls.map((inputs) => Object.values(inputs)[0].shape[0]);
    const names = Object.keys(calls[0]);
    const joined = names.map((name) => [name, joinRows(calls.map((inputs) => inputs[name]))]);
    return splitRows(await compiled(Object.fromEntries(joined)), rows);
  });
  return Object.assign(call, { dispose: () => compiled.dispose() });
}

/** Names, dtypes and shapes of rows: calls of one kind can be merged. */
function rowKind(inputs: NamedArrays): string {
  return Object.entries(inputs)
    .map(([name, { data, shape }]) => `${name} ${data.constructor.name} ${shape.slice(1)}`)
    .join(';');
}

function joinRows(parts: readonly NDArray[]): NDArray {
  const size = parts.reduce((sum, { data }) => sum + data.length, 0);
  const rows = parts.reduce((sum, { shape }) => sum + shape[0], 0);
  const data = like(parts[0].data, size);
  let offset = 0;
  for (const part of parts) {
    data.set(part.data as Float32Array, offset);
    offset += part.data.length;
  }
  return { data, shape: [rows, ...parts[0].shape.slice(1)] };
}

/** Each call's part; an output with several numbers of a row in its first axis ([B T] of sequences) is cut in proportion. */
function splitRows(arrays: NamedArrays, rows: readonly number[]): NamedArrays[] {
  const total = rows.reduce((sum, count) => sum + count, 0);
  let start = 0;
  return rows.map((count) => {
    const part = Object.entries(arrays).map(([name, { data, shape }]) => {
      const size = data.length / total;
      const own = data.slice(start * size, (start + count) * size);
      return [name, { data: own, shape: [(shape[0] / total) * count, ...shape.slice(1)] }];
    });
    start += count;
    return Object.fromEntries(part) as NamedArrays;
  });
}

function like(data: TypedArray, size: number): Float32Array {
  return new (data.constructor as new (size: number) => Float32Array)(size);
}
