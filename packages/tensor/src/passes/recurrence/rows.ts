import { indices, type RewriteContext, type Value } from '../../graph';

/** Values one below the other. */
export function joinRows({ builder }: RewriteContext, parts: readonly Value[]): Value {
  if (parts.length === 1) return parts[0];
  const rows = parts.reduce((sum, { shape }) => sum + shape[0], 0);
  const [first] = parts;
  return builder.op('Concat', parts, { shape: [rows, ...first.shape.slice(1)], dtype: first.dtype }, { axis: 0 });
}

/** A value cut into blocks of rows. */
export function cutRows({ builder }: RewriteContext, x: Value, rows: readonly number[]): readonly Value[] {
  const parts = rows.map((count) => ({ shape: [count, ...x.shape.slice(1)], dtype: x.dtype }));
  return builder.ops('Split', [x, indices(rows)], parts, { axis: 0 });
}

/** Rows `start` to `start + count` of a value. */
export function sliceRows({ builder }: RewriteContext, x: Value, start: number, count: number): Value {
  if (start === 0 && count === x.shape[0]) return x;
  const bounds = [start, start + count, 0].map((bound) => indices([bound]));
  return builder.op('Slice', [x, ...bounds], { shape: [count, ...x.shape.slice(1)], dtype: x.dtype });
}
