import { elements, type Graph, type Node, type RewriteContext, rewrite, sameShape, type Value } from '../graph';
import { isElementwise, madeBy, reducedAxes } from './patterns';
import { reshape } from './simplify/shapes';

/**
 * Moves a Reshape that makes images of a matrix [R, C] (a convolution's product: [N, H, W, C]) down through operations
 * on each element and sums over all positions. Bias and activation then follow the product directly and are done by it,
 * and their gradients meet the next product as matrices.
 */
export function sinkReshapes(graph: Graph): Graph {
  return rewrite(graph, (node, context) => {
    if (isElementwise(node)) return throughElementwise(node, context);
    if (node.op === 'ReduceSum') return throughSum(node, context);
    return undefined;
  });
}

/** The matrix [R, C] that a value [..., C] of higher rank is a view of. */
function matrixOf(value: Value | undefined, context: RewriteContext): Value | undefined {
  const source = madeBy(value, context, 'Reshape')?.inputs[0];
  if (!value || source?.shape.length !== 2 || value.shape.length < 3) return undefined;
  return source.shape[1] === value.shape[value.shape.length - 1] && elements(source) > 0 ? source : undefined;
}

function throughElementwise(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const [{ shape, dtype }] = node.outputs;
  const matrix = node.inputs.flatMap((input) =>
    input && sameShape(input.shape, shape) ? (matrixOf(input, context) ?? []) : [],
  )[0];
  if (!matrix) return undefined;
  const inputs = node.inputs.map((input) => input && asMatrix(input, shape, matrix.shape, context));
  if (inputs.some((input, i) => node.inputs[i] && !input)) return undefined;
  const [made] = context.builder.append({ ...node, inputs, outputs: [{ shape: matrix.shape, dtype }] });
  return [reshape(context, made, shape)];
}

/**
 * An operand for matrices instead of images; undefined if it is broadcast in another way than along channels or
 * everywhere.
 */
function asMatrix(
  input: Value,
  shape: readonly number[],
  matrix: readonly number[],
  context: RewriteContext,
): Value | undefined {
  if (sameShape(input.shape, shape)) return reshape(context, matrixOf(input, context) ?? input, matrix);
  const channels = input.shape[input.shape.length - 1] ?? 1;
  if (elements(input) !== channels || input.shape.length > shape.length) return undefined;
  return input.shape.length > 1 ? reshape(context, input, [channels]) : input;
}

/** A sum of images over all axes but the channels: of a matrix over its rows. */
function throughSum(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const [x, axes] = node.inputs;
  const [output] = node.outputs;
  const matrix = matrixOf(x, context);
  if (!matrix || !axes?.constant) return undefined;
  const rank = x!.shape.length;
  const summed = new Set(reducedAxes(node));
  if (summed.size !== rank - 1 || summed.has(rank - 1)) return undefined;
  const zero: Value = { shape: [1], dtype: 'int64', constant: Int32Array.of(0) };
  const row = { shape: [matrix.shape[1]], dtype: output.dtype };
  return [reshape(context, context.builder.op('ReduceSum', [matrix, zero], row, { keepdims: 0 }), output.shape)];
}
