import { type GraphBuilder, scalar, type Value } from '../../graph';
import { kernel } from '../kernel';
import { cast, elementwise } from './arithmetic';

/** Softmax over the last axis, and batch normalisation. */
export function registerNormalisation(): void {
  for (const op of ['Softmax', 'LogSoftmax']) {
    kernel(op, ({ inputs: { logits }, graph }) => {
      const numbers = cast(graph, logits!, 'float32');
      return graph.op(op, [numbers], numbers, { axis: -1 });
    });
  }
  kernel<{ varianceEpsilon?: number }>('FusedBatchNorm', ({ inputs, attrs, graph }) => {
    const { x, mean, variance, scale, offset } = inputs;
    return batchNorm(graph, x!, mean!, variance!, scale, offset, attrs.varianceEpsilon ?? 0.001);
  });
}

/**
 * offset + scale (x - mean) / sqrt(variance + epsilon); statistics, scale and offset belong to the last axis, or have
 * the shape of `x`.
 */
function batchNorm(
  graph: GraphBuilder,
  x: Value,
  mean: Value,
  variance: Value,
  scale: Value | undefined,
  offset: Value | undefined,
  epsilon: number,
): Value {
  const above = elementwise(graph, 'Add', variance, scalar(epsilon));
  const inverse = graph.op('Reciprocal', [graph.op('Sqrt', [above], above)], above);
  const slope = scale ? elementwise(graph, 'Mul', inverse, scale) : inverse;
  const normal = elementwise(graph, 'Mul', elementwise(graph, 'Sub', x, mean), slope);
  return offset ? elementwise(graph, 'Add', normal, offset) : normal;
}
