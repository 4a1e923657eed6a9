import { fail, type NamedArrays, type NDArray, type TypedArray } from '@coplay/core';
import { checkFunction } from '@coplay/core/checks';
import type { Compiled } from '../compile';
import { isArray } from '../convert';
import type { Statics } from '../executor';
import { signatureOf } from '../onnx/record';
import { type Entry, leavesOf } from '../tree';
import { gatherCalls } from './gather-calls';

/** One caller's inputs. */
interface Call {
  readonly inputs: NamedArrays;
  readonly statics: Statics | undefined;
}

/**
 * A compiled function whose inputs and outputs all are [B, ...] with independent rows, such as a policy: calls that
 * meet (made in the same turn of the event loop) and have the same static values run as one batch.
 */
export function mergeRows(compiled: Compiled): Compiled {
  checkFunction('mergeRows', 'compiled', compiled);
  const call = gatherCalls<Call, NamedArrays>(async (calls) => {
    if (calls.length === 1 || new Set(calls.map(kindOf)).size > 1)
      return Promise.all(calls.map(({ inputs, statics }) => compiled(inputs, statics)));
    const [first] = calls;
    const names = Object.keys(first.inputs);
    const rows = calls.map(({ inputs }) => rowsOf(inputs));
    const joined = names.map((name) => [name, joinRows(calls.map(({ inputs }) => inputs[name]))]);
    return splitRows(await compiled(Object.fromEntries(joined), first.statics), rows);
  });
  const merged = async (inputs: NamedArrays, statics?: Statics): Promise<NamedArrays> => {
    rowsOf(inputs);
    return call({ inputs, statics });
  };
  return Object.assign(merged, { dispose: () => compiled.dispose() });
}

/** B; refuses inputs that don't have the same number of rows. */
function rowsOf(inputs: NamedArrays): number {
  const leaves = leavesOf('mergeRows: inputs', inputs, isArray);
  const rows = leaves[0]?.[1].shape[0];
  const odd = leaves.find(([, { shape }]) => shape.length === 0 || shape[0] !== rows);
  const expected = 'inputs [B, ...] with as many rows each, and at least one of them';
  if (odd) fail('mergeRows', expected, `${odd[0]} of shape [${odd[1].shape}]`, REMEDY);
  return rows ?? fail('mergeRows', expected, 'none', REMEDY);
}

const REMEDY = 'Call the compiled function itself for inputs without rows.';

/** Static values, and names, dtypes and shapes of rows: calls of one kind can be merged. */
function kindOf({ inputs, statics = {} }: Call): string {
  const rows = Object.entries(inputs).map(([name, { data, shape }]): Entry<NDArray> => {
    return [name, { data: data.subarray(0, 0), shape: shape.slice(1) }];
  });
  return signatureOf(rows, statics);
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

/**
 * Each call's part; an output with several numbers of a row in its first axis ([B T] of sequences) is cut in
 * proportion.
 */
function splitRows(arrays: NamedArrays, rows: readonly number[]): NamedArrays[] {
  const total = rows.reduce((sum, count) => sum + count, 0);
  const perRow = Object.entries(arrays).map(([name, { data, shape }]) => {
    const lines = total === 0 ? 1 : shape[0] / total;
    if (!Number.isInteger(lines)) {
      fail(
        'mergeRows',
        `${name} of shape [B, ...], here of ${total} rows`,
        `[${shape}]`,
        'Merge functions of rows only.',
      );
    }
    return { name, data, shape, lines, size: total === 0 ? 0 : data.length / total };
  });
  let start = 0;
  return rows.map((count) => {
    const part = perRow.map(({ name, data, shape, lines, size }) => {
      const own = data.slice(start * size, (start + count) * size);
      return [name, { data: own, shape: [lines * count, ...shape.slice(1)] }];
    });
    start += count;
    return Object.fromEntries(part) as NamedArrays;
  });
}

function like(data: TypedArray, size: number): Float32Array {
  return new (data.constructor as new (size: number) => Float32Array)(size);
}
