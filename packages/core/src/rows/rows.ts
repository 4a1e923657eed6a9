import { z } from 'zod';
import { allocate, dtypeOf, sizeOf } from '../arrays';
import { checkNumbers } from '../check-values';
import { checkArgument, namedArrays } from '../checks';
import { copyRow } from '../experience';
import { fail } from '../fail';
import type { DType, NamedArrays, NDArray } from '../typed-arrays';

/** The format of one row of each column: its dtype, and its shape without the first axis. */
export type RowSpec = Readonly<Record<string, { readonly dtype: DType; readonly shape: readonly number[] }>>;

/**
 * The number of rows B of a record of columns `[B, ...]`.
 *
 * @param where  the function whose argument the rows are, for the message
 * @throws CoplayError if columns disagree, or if there is none
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

/** The format of one of these rows. */
export function rowSpecOf(rows: NamedArrays): RowSpec {
  return mapColumns(rows, ({ data, shape }) => ({ dtype: dtypeOf(data), shape: shape.slice(1) }));
}

/**
 * Refuses rows whose columns differ from `spec`.
 *
 * @param where  the function whose argument the rows are, for the message
 * @throws CoplayError that names the first column with another dtype or shape, the column that is missing, or the one
 *         too many
 */
export function checkRowSpec(where: string, spec: RowSpec, rows: NamedArrays): void {
  const given = rowSpecOf(rows);
  refusePrototype(where, rows);
  for (const name of new Set([...Object.keys(spec), ...Object.keys(given)])) {
    const expected = describe(spec, name);
    const got = describe(given, name);
    if (expected !== got) fail(where, expected, got, 'Give all rows the same fields.');
  }
}

function refusePrototype(where: string, rows: NamedArrays): void {
  if (!Object.hasOwn(rows, '__proto__')) return;
  const remedy = 'Rename it: JavaScript takes that name for something else.';
  fail(where, 'fields with names of their own', '__proto__', remedy);
}

function describe(spec: RowSpec, name: string): string {
  const field = Object.hasOwn(spec, name) ? spec[name] : undefined;
  return field ? `${name} of ${field.dtype} [${['B', ...field.shape].join(', ')}]` : `no field ${name}`;
}

/** `count` rows of zeros. */
export function allocateRows(spec: RowSpec, count: number): NamedArrays {
  return mapColumns(spec, ({ dtype, shape }) => {
    const full = [count, ...shape];
    return { data: allocate(dtype, sizeOf(full)), shape: full };
  });
}

/** A record with the same names, and for each column what `change` makes of it: an array, a tensor, anything. */
export function mapColumns<Name extends string, Column, Result>(
  columns: Readonly<Record<Name, Column>>,
  change: (column: Column, name: Name) => Result,
): Record<Name, Result> {
  const entries = Object.entries(columns) as [Name, Column][];
  // Object.fromEntries defines each key, where an assignment to __proto__ would be lost.
  return Object.fromEntries(entries.map(([name, column]) => [name, change(column, name)])) as Record<Name, Result>;
}

/**
 * Copies the rows at `indices` of `source` to the rows of `target` from `start` on, for each column of `target`. Source
 * and target must not share memory: a row could be read after it was written.
 */
export function gatherInto(target: NamedArrays, start: number, source: NamedArrays, indices: ArrayLike<number>): void {
  if (indices.length === 0) return;
  for (const name in target) {
    const size = sizeOf(target[name].shape.slice(1));
    const from = source[name].data;
    const to = target[name].data;
    for (let i = 0; i < indices.length; i++) copyRow(from, indices[i], to, start + i, size);
  }
}

/**
 * The rows at `indices`, in that order, of every column: copies.
 *
 * @throws CoplayError for columns of different lengths or with the name `__proto__`, and for indices without a row
 */
export function gatherRows(rows: NamedArrays, indices: ArrayLike<number>): NamedArrays {
  checkArgument('gatherRows', 'rows', namedArrays, rows);
  refusePrototype('gatherRows', rows);
  const count = Object.keys(rows).length === 0 ? 0 : rowCount('gatherRows', rows);
  checkNumbers('gatherRows', 'indices', indices, { min: 0, max: count - 1, whole: true });
  const gathered = allocateRows(rowSpecOf(rows), indices.length);
  gatherInto(gathered, 0, rows, indices);
  return gathered;
}

/**
 * The rows from `start` up to but without `end` of every column: views, so the memory is shared.
 *
 * @throws CoplayError that names the first column with another number of rows than the first column
 */
export function sliceRows(rows: NamedArrays, start: number, end: number): NamedArrays {
  const [first] = Object.values(rows);
  return mapColumns(rows, ({ data, shape }, name): NDArray => {
    if (shape[0] !== first.shape[0]) {
      const expected = `${name} of shape [B=${first.shape[0]}, ...]`;
      fail('sliceRows', expected, `[${shape}]`, 'Give every column one entry for each row.');
    }
    const size = sizeOf(shape.slice(1));
    return { data: data.subarray(start * size, end * size), shape: [end - start, ...shape.slice(1)] };
  });
}

const partsSchema = z.array(namedArrays);

/** The rows of several records one after the other. All records need the same columns. */
export function concatRows(parts: readonly NamedArrays[]): NamedArrays {
  // Hundreds of parts are joined in an update: what is plainly right isn't described for a message.
  if (!Array.isArray(parts) || parts.length === 0 || !Array.from(parts).every((part) => isLike(parts[0], part))) {
    checkParts(parts); // `Array.from`: also of holes
  }
  const spec = rowSpecOf(parts[0]);
  const names = Object.keys(spec);
  const counts = parts.map((part) => (names.length === 0 ? 0 : part[names[0]].shape[0]));
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

/** Whether a record plainly has the columns of another one, and as many rows in each. */
function isLike(first: NamedArrays, part: NamedArrays): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const names = Object.keys(part);
  if (names.length === 0 || names.length !== Object.keys(first).length) return false;
  const count = part[names[0]]?.shape?.[0];
  return names.every((name) => {
    if (name === '__proto__') return false;
    const [own, other] = [part[name], first[name]];
    if (!own?.shape || !own.data || !other?.data || own.data.constructor !== other.data.constructor) return false;
    return (
      own.shape[0] === count &&
      own.shape.length === other.shape?.length &&
      own.shape.every((size, axis) => axis === 0 || size === other.shape[axis]) &&
      own.data.length === sizeOf(own.shape)
    );
  });
}

/** Refuses parts of different columns or rows. */
function checkParts(parts: readonly NamedArrays[]): void {
  checkArgument('concatRows', 'parts', partsSchema, parts);
  if (parts.length === 0) fail('concatRows', 'at least one part', 'none', 'Give the rows to join.');
  const spec = rowSpecOf(parts[0]);
  for (const part of parts) checkRowSpec('concatRows', spec, part);
  for (const part of parts) rowCount('concatRows', part);
}

/**
 * The power of two at or above a number of rows. A compiled function has a graph for each number of rows that it meets;
 * padded numbers take few values.
 */
export function paddedCount(rows: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, rows)));
}

/** The same rows with rows of zeros after them, `count` in all. Single numbers (shape []) stay as they are. */
export function padRows(rows: NamedArrays, count: number): NamedArrays {
  return mapColumns(rows, (column): NDArray => {
    const { data, shape } = column;
    if (shape.length === 0 || shape[0] === count) return column;
    const padded = allocate(dtypeOf(data), count * sizeOf(shape.slice(1)));
    padded.set(data);
    return { data: padded, shape: [count, ...shape.slice(1)] };
  });
}

/**
 * The same values with other first axes: rows [S B, ...] as S minibatches [S, B, ...], and back.
 *
 * @param axes      the new first axes
 * @param replaced  how many axes they replace. Default 1
 * @throws CoplayError if the new shape of a column has another number of values
 */
export function reshapeRows(rows: NamedArrays, axes: readonly number[], replaced = 1): NamedArrays {
  return mapColumns(rows, ({ data, shape }, name): NDArray => {
    const reshaped = [...axes, ...shape.slice(replaced)];
    if (sizeOf(reshaped) !== data.length) {
      const remedy = 'Give axes whose product is that of the axes that they replace.';
      fail('reshapeRows', `axes [${axes}] for ${name} of shape [${shape}]`, `${sizeOf(axes)} rows`, remedy);
    }
    return { data, shape: reshaped };
  });
}
