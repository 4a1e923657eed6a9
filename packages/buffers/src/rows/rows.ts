import {
  allocate,
  checkArgument,
  checkNumbers,
  copyRow,
  type DType,
  dtypeOf,
  fail,
  type NamedArrays,
  namedArrays,
  sizeOf,
} from '@coplay/core';
import { z } from 'zod';

/** What one row of each field is: its dtype and its shape without the batch dimension. */
export type RowSpec = Readonly<Record<string, { readonly dtype: DType; readonly shape: readonly number[] }>>;

/**
 * The number of rows B of a record of arrays `[B, ...]`.
 *
 * @throws CoplayError where fields disagree, or there is none
 */
export function rowCount(where: string, rows: NamedArrays): number {
  checkArgument(where, 'rows', namedArrays, rows);
  const names = Object.keys(rows);
  if (names.length === 0) fail(where, 'rows with at least one field', 'none', 'Give named arrays of shape [B, ...].');
  const count = rows[names[0]].shape[0];
  for (const name of names) {
    const { data, shape } = rows[name];
    if (shape.length === 0 || shape[0] !== count || sizeOf(shape) !== data.length) {
      const expected = `${name} of shape [B=${count}, ...] with as many values`;
      fail(where, expected, `[${shape}] with ${data.length} values`, 'Give every field one entry for each row.');
    }
  }
  return count;
}

/** What one row of these rows is. */
export function rowSpecOf(rows: NamedArrays): RowSpec {
  return Object.fromEntries(
    Object.entries(rows).map(([name, { data, shape }]) => [name, { dtype: dtypeOf(data), shape: shape.slice(1) }]),
  );
}

/** Refuses rows whose fields, dtypes or shapes differ from `spec`, by field. */
export function checkRowSpec(where: string, spec: RowSpec, rows: NamedArrays): void {
  const given = rowSpecOf(rows);
  if (Object.hasOwn(rows, '__proto__')) {
    fail(
      where,
      'fields with names of their own',
      '__proto__',
      'Rename it: JavaScript takes that name for something else.',
    );
  }
  for (const name of new Set([...Object.keys(spec), ...Object.keys(given)])) {
    const expected = describe(spec, name);
    const got = describe(given, name);
    if (expected !== got) fail(where, expected, got, 'Give all rows the same fields.');
  }
}

function describe(spec: RowSpec, name: string): string {
  const field = Object.hasOwn(spec, name) ? spec[name] : undefined;
  return field ? `${name} of ${field.dtype} [${['B', ...field.shape].join(', ')}]` : `no field ${name}`;
}

/** Zeroed rows. */
export function allocateRows(spec: RowSpec, count: number): NamedArrays {
  return Object.fromEntries(
    Object.entries(spec).map(([name, { dtype, shape }]) => {
      const full = [count, ...shape];
      return [name, { data: allocate(dtype, sizeOf(full)), shape: full }];
    }),
  );
}

/** Copies the rows at `indices` of every field to the rows of `target` from `start` on. */
export function gatherInto(target: NamedArrays, start: number, source: NamedArrays, indices: ArrayLike<number>): void {
  if (indices.length === 0) return;
  for (const name in target) {
    const size = sizeOf(target[name].shape.slice(1));
    const from = source[name].data;
    const to = target[name].data;
    for (let i = 0; i < indices.length; i++) copyRow(from, indices[i], to, start + i, size);
  }
}

/** The rows at `indices`, in that order, of every field. */
export function gatherRows(rows: NamedArrays, indices: ArrayLike<number>): NamedArrays {
  checkArgument('gatherRows', 'rows', namedArrays, rows);
  const count = Object.keys(rows).length === 0 ? 0 : rowCount('gatherRows', rows);
  checkNumbers('gatherRows', 'indices', indices, { min: 0, max: count - 1, whole: true });
  const gathered = allocateRows(rowSpecOf(rows), indices.length);
  gatherInto(gathered, 0, rows, indices);
  return gathered;
}

const partsSchema = z.array(namedArrays);

/** Rows of several records below one another. All need the same fields. */
export function concatRows(parts: readonly NamedArrays[]): NamedArrays {
  checkArgument('concatRows', 'parts', partsSchema, parts);
  if (parts.length === 0) fail('concatRows', 'at least one part', 'none', 'Give the rows to join.');
  const spec = rowSpecOf(parts[0]);
  for (const part of parts) checkRowSpec('concatRows', spec, part);
  const counts = parts.map((part) => rowCount('concatRows', part));
  const joined = allocateRows(
    spec,
    counts.reduce((sum, count) => sum + count, 0),
  );
  for (const name in spec) {
    let offset = 0;
    for (const part of parts) {
      joined[name].data.set(part[name].data, offset);
      offset += part[name].data.length;
    }
  }
  return joined;
}
