import { backend_util, util } from '@tensorflow/tfjs-core';
import { type GraphBuilder, indices, scalar, type Value } from '../../graph';
import { kernel } from '../kernel';
import { cast, compare } from './arithmetic';
import { filled } from './constants';

/** Kernels that reduce axes. */
export function registerReductions(): void {
  // Booleans are counted: tfjs's sums and products of them are int32.
  reduction('Sum', (graph, x, axes, keep) => reduce(graph, 'ReduceSum', counted(graph, x), axes, keep));
  reduction('Prod', (graph, x, axes, keep) => reduce(graph, 'ReduceProd', counted(graph, x), axes, keep));
  reduction('Mean', (graph, x, axes, keep) => reduce(graph, 'ReduceMean', cast(graph, x, 'float32'), axes, keep));
  for (const [name, op] of Object.entries({ Max: 'ReduceMax', Min: 'ReduceMin' })) {
    reduction(name, (graph, x, axes, keep) => {
      const reduced = reduce(graph, op, counted(graph, x), axes, keep);
      return x.dtype === 'float32' ? withNaN(graph, reduced, x, axes, keep) : cast(graph, reduced, x.dtype);
    });
  }
  // All and any are the least and the greatest of 0 and 1.
  for (const [name, op] of Object.entries({ All: 'ReduceMin', Any: 'ReduceMax' })) {
    reduction(name, (graph, x, axes, keep) => {
      const reduced = reduce(graph, op, cast(graph, x, 'int32'), axes, keep);
      return compare(graph, 'Greater', reduced, 0);
    });
  }
}

interface AxisAttrs {
  readonly axis?: number | number[];
  /** What tfjs calls the axes of Max. */
  readonly reductionIndices?: number | number[];
  readonly keepDims?: boolean;
}

type Reduction = (graph: GraphBuilder, x: Value, axes: readonly number[], keepDims: boolean) => Value;

function reduction(name: string, record: Reduction): void {
  kernel<AxisAttrs>(name, ({ inputs: { x }, attrs, graph }) => {
    const axes = util.parseAxisParam(attrs.reductionIndices ?? attrs.axis ?? null!, [...x!.shape]);
    return record(graph, x!, axes, attrs.keepDims ?? false);
  });
}

function counted(graph: GraphBuilder, x: Value): Value {
  return x.dtype === 'bool' ? cast(graph, x, 'int32') : x;
}

/** The result of an empty reduction. */
const OF_NOTHING: Record<string, number> = { ReduceProd: 1, ReduceMax: -Infinity, ReduceMin: Infinity };

/**
 * The largest or smallest, NaN where `x` has one: ONNX Runtime keeps a NaN only where it comes first. A number held
 * between 0 and 0 is 0, and NaN is NaN, so the sum of those is added.
 */
function withNaN(graph: GraphBuilder, reduced: Value, x: Value, axes: readonly number[], keepDims: boolean): Value {
  if (axes.length === 0 || x.shape.includes(0)) return reduced;
  const traces = graph.op('Clip', [x, scalar(0), scalar(0)], x);
  return graph.op('Add', [reduced, reduce(graph, 'ReduceSum', traces, axes, keepDims)], reduced);
}

/**
 * Reduces axes by one of ONNX's Reduce operators. The largest and the smallest may overlook NaN; see {@link withNaN}.
 */
export function reduce(graph: GraphBuilder, op: string, x: Value, axes: readonly number[], keepDims: boolean): Value {
  if (axes.length === 0) return x;
  const [reduced] = backend_util.computeOutAndReduceShapes([...x.shape], [...axes]);
  const shape = keepDims ? x.shape.map((size, axis) => (axes.includes(axis) ? 1 : size)) : reduced;
  if (x.shape.includes(0)) return filled(shape, OF_NOTHING[op] ?? 0, x.dtype);
  return graph.op(op, [x, indices(axes)], { shape, dtype: x.dtype }, { keepdims: keepDims ? 1 : 0 });
}
