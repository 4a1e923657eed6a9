import { type Graph, type Node, type RewriteContext, rewrite, sameShape, type Value } from '../../graph';
import { integerOf, madeBy, permOf } from '../patterns';

/** Transposed operands become flags of Gemm and FusedMatMul. */
export function transposedOperands(graph: Graph): Graph {
  return rewrite(graph, (node, context) => (isProduct(node) ? untransposed(node, context) : undefined));
}

/** Rows added to products become Gemm's third operand. */
export function rowBiases(graph: Graph): Graph {
  return rewrite(graph, (node, context) => biased(node, context, isRow));
}

/** Matrices added to products become Gemm's third operand, so that sums are built up in place. */
export function addedProducts(graph: Graph): Graph {
  return rewrite(graph, (node, context) => biased(node, context, isMatrix));
}

type Addable = (added: Value, output: Value) => boolean;

const isRow: Addable = ({ shape }, output) =>
  sameShape(shape, output.shape.slice(1)) || sameShape(shape, [1, output.shape[1]]);

const isMatrix: Addable = ({ shape }, output) => sameShape(shape, output.shape);

/** Whether a node is a matrix product without anything added. */
export function isProduct({ op, inputs, outputs, attributes }: Node): boolean {
  if (outputs[0].dtype !== 'float32') return false; // ONNX Runtime multiplies whole numbers by MatMul alone
  if (op === 'Gemm') return inputs[2] === undefined && attributes['alpha'] === undefined;
  return op === 'MatMul' || (op === 'FusedMatMul' && attributes['alpha'] === undefined);
}

/** A matrix product, each operand transposed first if its flag is set. */
export function product(
  { builder }: RewriteContext,
  [a, b, c]: readonly [Value, Value, (Value | undefined)?],
  transA: boolean,
  transB: boolean,
  output: Value,
): Value {
  const flags = { transA: Number(transA), transB: Number(transB) };
  if (c) return builder.op('Gemm', [a, b, c], output, flags);
  if (!transA && !transB) return builder.op('MatMul', [a, b], output);
  if (output.shape.length === 2) return builder.op('Gemm', [a, b], output, flags);
  return builder.microsoft('FusedMatMul', [a, b], output, flags);
}

function untransposed(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const operands = node.inputs.slice(0, 2) as Value[];
  if (operands.some(({ shape }) => shape.length !== node.outputs[0].shape.length)) return undefined;
  const sources = operands.map((operand) => beforeTranspose(operand, context));
  if (sources.every((source) => source === undefined)) return undefined;
  const [transA, transB] = ['transA', 'transB'].map(
    (flag, i) => (integerOf(node, flag, 0) === 1) !== (sources[i] !== undefined),
  );
  return [product(context, [sources[0] ?? operands[0], sources[1] ?? operands[1]], transA, transB, node.outputs[0])];
}

/** The value whose transpose, in its last two axes, this value is. */
function beforeTranspose(value: Value, context: RewriteContext): Value | undefined {
  const transpose = madeBy(value, context, 'Transpose');
  if (!transpose) return undefined;
  const rank = value.shape.length;
  const isSwap = permOf(transpose).every((axis, i) => axis === (i < rank - 2 ? i : 2 * rank - 3 - i));
  return rank >= 2 && isSwap ? transpose.inputs[0] : undefined;
}

/** a b + c for matrices. */
function biased(node: Node, context: RewriteContext, canAdd: Addable): readonly Value[] | undefined {
  const [output] = node.outputs;
  if (node.op !== 'Add' || output.shape.length !== 2 || output.dtype !== 'float32') return undefined;
  const [left, right] = node.inputs as [Value, Value];
  for (const [made, added] of [
    [left, right],
    [right, left],
  ]) {
    const maker = madeBy(made, context, 'MatMul', 'Gemm');
    if (!maker || !isProduct(maker) || context.uses(made) > 1) continue;
    if (!sameShape(made.shape, output.shape) || !canAdd(added, output)) continue;
    const [transA, transB] = ['transA', 'transB'].map((flag) => integerOf(maker, flag, 0) === 1);
    return [product(context, [maker.inputs[0]!, maker.inputs[1]!, added], transA, transB, output)];
  }
  return undefined;
}
