import { sizeOf } from '@coplay/core/arrays';
import { type ConstantData, type GraphBuilder, indices, type Value } from '../graph';
import { type Affine, fitAffine, fitShape } from './affine';

/** A constant that isn't the same at each batch size. */
export interface BatchConstant {
  readonly batches: readonly number[];
  /** The constant at each batch size. */
  readonly row: readonly Value[];
  /** Whether it's the target of a reshape, where -1 may stand for one size. */
  readonly isTarget: boolean;
  readonly builder: GraphBuilder;
  /** The batch size [1] as the graph runs; int64. */
  readonly size: () => Value;
}

/**
 * What stands for such a constant: a list of sizes, or rows that are all equal, repeated. undefined if it's neither.
 */
export function batchConstant(constant: BatchConstant): Value | undefined {
  const { batches, row } = constant;
  const axes = fitShape(
    batches,
    row.map(({ shape }) => shape),
  );
  if (!axes) return undefined;
  const isFixed = axes.every(({ slope }) => slope === 0);
  return isFixed ? sizes(constant) : repeated(constant, axes);
}

/** A list of sizes. */
function sizes({ batches, row, isTarget, builder, size }: BatchConstant): Value | undefined {
  const [first] = row;
  if (first.dtype !== 'int64') return undefined;
  const fitted = Array.from(first.constant!, (_, i) =>
    fitAffine(
      batches,
      row.map(({ constant }) => constant![i]),
    ),
  );
  if (fitted.some((entry) => entry === undefined)) return undefined;
  const entries = fitted as Affine[];
  return (isTarget && freeTarget(entries)) || computed(entries, builder, size());
}

/** The target of a reshape with -1 for the one size that varies; undefined where that isn't clear. */
function freeTarget(entries: readonly Affine[]): Value | undefined {
  const varying = entries.filter(({ slope }) => slope !== 0);
  const isClear = varying.length === 1 && entries.every(({ slope, offset }) => slope !== 0 || offset > 0);
  return isClear ? indices(entries.map(({ slope, offset }) => (slope === 0 ? offset : -1))) : undefined;
}

/** slopes x batch + offsets, [n] int64. */
function computed(entries: readonly Affine[], builder: GraphBuilder, size: Value): Value {
  const output = { shape: [entries.length], dtype: 'int64' as const };
  const product = builder.op('Mul', [size, indices(entries.map(({ slope }) => slope))], output);
  return builder.op('Add', [product, indices(entries.map(({ offset }) => offset))], output);
}

/** Equal rows along the axes that vary: one of them, expanded to the size of the moment. */
function repeated({ row, builder, size }: BatchConstant, axes: readonly Affine[]): Value | undefined {
  const single = row.map((value) => collapse(value, axes));
  const [first] = single;
  if (!first || single.some((value) => !value || !isSame(value.constant!, first.constant!))) return undefined;
  return builder.op('Expand', [first, computed(axes, builder, size())], row[0]);
}

/** A constant with size 1 along the axes that vary; undefined if it isn't the same all along them. */
function collapse(value: Value, axes: readonly Affine[]): Value | undefined {
  let { constant: data, shape } = value as Required<Value>;
  for (const [axis, { slope }] of axes.entries()) {
    if (slope === 0) continue;
    const inner = sizeOf(shape.slice(axis + 1));
    const block = inner * shape[axis];
    if (!data.every((x, i) => Object.is(x, data[i - (i % block) + (i % inner)]))) return undefined;
    data = data.filter((_, i) => i % block < inner) as ConstantData;
    shape = shape.map((size, i) => (i === axis ? 1 : size));
  }
  return { ...value, shape, constant: data };
}

function isSame(a: ConstantData, b: ConstantData): boolean {
  return a.length === b.length && a.every((x, i) => Object.is(x, b[i]));
}
