import { sizeOf } from '@coplay/core/arrays';
import { constant, type Graph, type Node, type RewriteContext, reshape, rewrite, type Value } from '../graph';

/** Below this many rows or columns there's nothing to gain. */
const LEAST = 8;

/**
 * Sums over all axes but the last (gradients of biases) as a product with a row of ones: ONNX Runtime's ReduceSum walks
 * such arrays column by column, 50 microseconds for [192, 128] where the product takes 4.
 */
export function rowSums(graph: Graph): Graph {
  return rewrite(graph, (node, context) => {
    const x = node.inputs[0];
    if (node.op !== 'ReduceSum' || x?.dtype !== 'float32' || !keepsLastAxisAlone(node, x)) return undefined;
    return [productWithOnes(x, node.outputs[0], context)];
  });
}

function keepsLastAxisAlone(node: Node, x: Value): boolean {
  const rank = x.shape.length;
  const axes = node.inputs[1]?.constant;
  const columns = x.shape[rank - 1];
  if (rank < 2 || axes?.length !== rank - 1 || columns < LEAST || sizeOf(x.shape) / columns < LEAST) return false;
  return Array.from(axes, (axis) => (axis < 0 ? axis + rank : axis)).every((axis) => axis < rank - 1);
}

function productWithOnes(x: Value, output: Value, { builder }: RewriteContext): Value {
  const columns = x.shape[x.shape.length - 1];
  const rows = sizeOf(x.shape) / columns;
  const flat = reshape(builder, x, [rows, columns]);
  const ones = constant(new Float32Array(rows).fill(1), [1, rows], 'float32');
  return reshape(builder, builder.op('MatMul', [ones, flat], { shape: [1, columns], dtype: 'float32' }), output.shape);
}
