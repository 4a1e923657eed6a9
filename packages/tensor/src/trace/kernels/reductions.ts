import { util } from '@tensorflow/tfjs-core';
import { type GraphBuilder, indices, scalar, type Value } from '../../graph';
import { kernel } from '../kernel';
import { cast, elementwise } from './arithmetic';

/** Kernels that reduce axes. */
export function registerReductions(): void {
  reduction('Sum', 'ReduceSum', 'axis');
  reduction('Mean', 'ReduceMean', 'axis');
  reduction('Prod', 'ReduceProd', 'axis');
  reduction('Max', 'ReduceMax', 'reductionIndices');
  reduction('Min', 'ReduceMin', 'axis');
  truth('All', 'ReduceMin');
  truth('Any', 'ReduceMax');
}

interface AxisAttrs {
  readonly axis?: number | number[];
  readonly reductionIndices?: number | number[];
  readonly keepDims?: boolean;
}

function reduction(name: string, op: string, axisName: 'axis' | 'reductionIndices'): void {
  kernel<AxisAttrs>(name, ({ inputs: { x }, attrs, graph }) => {
    const axes = util.parseAxisParam(attrs[axisName] ?? attrs.axis ?? null!, [...x!.shape]);
    return reduce(graph, op, x!, axes, attrs.keepDims ?? false);
  });
}

/** Reduces axes by one of ONNX's Reduce operators. */
export function reduce(graph: GraphBuilder, op: string, x: Value, axes: readonly number[], keepDims: boolean): Value {
  if (axes.length === 0) return x;
  const kept = x.shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
  const shape = keepDims ? kept : x.shape.filter((_, axis) => !axes.includes(axis));
  return graph.op(op, [x, indices(axes)], { shape, dtype: x.dtype }, { keepdims: keepDims ? 1 : 0 });
}

/** All and any, as least and greatest of 0 and 1. */
function truth(name: string, op: string): void {
  kernel<AxisAttrs>(name, ({ inputs: { x }, attrs, graph }) => {
    const axes = util.parseAxisParam(attrs.axis ?? null!, [...x!.shape]);
    const reduced = reduce(graph, op, cast(graph, x!, 'int32'), axes, attrs.keepDims ?? false);
    return elementwise(graph, 'Greater', reduced, scalar(0, 'int32'), 'bool');
  });
}
