import { indices, type Node, type RewriteContext, type Value } from '../../graph';

/** A Concat of values, one below the other. */
export function concatRows(parts: readonly Value[]): Node {
  const rows = parts.reduce((sum, { shape }) => sum + shape[0], 0);
  const [{ shape, dtype }] = parts;
  return {
    op: 'Concat',
    inputs: parts,
    outputs: [{ shape: [rows, ...shape.slice(1)], dtype }],
    attributes: { axis: 0 },
  };
}

/** A Split of a value into these parts, one below the other. */
export function splitRows(x: Value, parts: readonly Value[]): Node {
  const sizes = indices(parts.map(({ shape }) => shape[0]));
  return { op: 'Split', inputs: [x, sizes], outputs: parts, attributes: { axis: 0 } };
}

/** Values one below the other. */
export function joinRows({ builder }: RewriteContext, parts: readonly Value[]): Value {
  return parts.length === 1 ? parts[0] : builder.append(concatRows(parts))[0];
}

/** A value cut into blocks of rows. */
export function cutRows({ builder }: RewriteContext, x: Value, rows: readonly number[]): readonly Value[] {
  const parts = rows.map((count) => ({ shape: [count, ...x.shape.slice(1)], dtype: x.dtype }));
  return builder.append(splitRows(x, parts));
}

/** Rows `start` to `start + count` of a value. */
export function sliceRows({ builder }: RewriteContext, x: Value, start: number, count: number): Value {
  if (start === 0 && count === x.shape[0]) return x;
  const bounds = [start, start + count, 0].map((bound) => indices([bound]));
  return builder.op('Slice', [x, ...bounds], { shape: [count, ...x.shape.slice(1)], dtype: x.dtype });
}
