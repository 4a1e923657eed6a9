import { type Attributes, indices, type Node, type Value } from '../graph';
import type { StackContext } from './stack-context';

/** Does a node for all members at once; undefined where it can't. */
export type StackRule = (node: Node, context: StackContext) => readonly Value[] | undefined;

/** The rule for a node, if there is one. */
export function ruleOf(node: Node): StackRule | undefined {
  if (ELEMENTWISE.has(node.op)) return elementwise;
  if (node.op.startsWith('Reduce')) return reduction;
  return RULES[node.op];
}

/** Each entry of the result depends on the same entries of the operands, which are broadcast to each other. */
const ELEMENTWISE = new Set([
  ...['Abs', 'Acos', 'Acosh', 'Asin', 'Asinh', 'Atan', 'Atanh', 'Cast', 'Ceil', 'Cos', 'Cosh', 'Elu', 'Erf', 'Exp'],
  ...['Floor', 'Identity', 'IsInf', 'IsNaN', 'LeakyRelu', 'Log', 'Neg', 'Not', 'Reciprocal', 'Relu', 'Round', 'Selu'],
  ...['Sigmoid', 'Sign', 'Sin', 'Sinh', 'Softplus', 'Sqrt', 'Tan', 'Tanh', 'HardSigmoid', 'Gelu'],
  ...['Add', 'Sub', 'Mul', 'Div', 'Mod', 'Pow', 'Max', 'Min', 'Sum', 'Mean', 'And', 'Or', 'Xor'],
  ...['Equal', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual', 'Where'],
]);

const elementwise: StackRule = (node, context) => {
  const rank = node.outputs[0].shape.length;
  return one(
    node,
    context,
    node.inputs.map((input) => input && context.aligned(input, rank)),
  );
};

/** ONNX broadcasts slopes to x, but not x to slopes. */
const prelu: StackRule = (node, context) => {
  const [x, slopes] = node.inputs as [Value, Value];
  return one(node, context, [context.expanded(x), context.aligned(slopes, x.shape.length)]);
};

/** The same operation on other inputs. */
function one(
  { op, domain, outputs, attributes }: Node,
  context: StackContext,
  inputs: readonly (Value | undefined)[],
  changed: Attributes = {},
): readonly Value[] {
  return context.builder.append({
    op,
    ...(domain ? { domain } : {}),
    inputs,
    outputs: outputs.map((output) => context.spec(output)),
    attributes: { ...attributes, ...changed },
  });
}

/** Axes are the second input, where ONNX's operator set 18 has them. */
const reduction: StackRule = (node, context) => {
  const [x, axes] = node.inputs as [Value, Value | undefined];
  const own = axes?.constant ?? Int32Array.from(x.shape.keys());
  return one(node, context, [context.get(x), moved(own, x.shape.length)]);
};

/** Axes, behind the member axis. */
function moved(axes: ArrayLike<number>, rank: number): Value {
  return indices(Array.from(axes, (axis) => shifted(axis, rank)));
}

function shifted(axis: number, rank: number): number {
  return (axis < 0 ? axis + rank : axis) + 1;
}

const reshape: StackRule = (node, context) => [
  context.reshape(context.get(node.inputs[0]!), [context.members, ...node.outputs[0].shape]),
];

const transpose: StackRule = (node, context) => {
  const perm = node.attributes['perm'] as readonly number[];
  return one(node, context, [context.get(node.inputs[0]!)], { perm: [0, ...perm.map((axis) => axis + 1)] });
};

/** Operations with an attribute `axis` that counts the axes of their first input. */
const alongAxis: StackRule = (node, context) => {
  const [x, ...rest] = node.inputs as [Value, ...Value[]];
  if (rest.some((input) => input && context.isStacked(input))) return undefined;
  const fallback = node.op.endsWith('Softmax') ? -1 : 0;
  const axis = shifted((node.attributes['axis'] as number | undefined) ?? fallback, x.shape.length);
  return one(node, context, [context.get(x), ...rest], { axis });
};

const concat: StackRule = (node, context) => {
  const axis = shifted(node.attributes['axis'] as number, node.outputs[0].shape.length);
  return one(
    node,
    context,
    node.inputs.map((input) => context.expanded(input!)),
    { axis },
  );
};

const slice: StackRule = (node, context) => {
  const [x, starts, ends, axes, steps] = node.inputs as Value[];
  if (!axes?.constant) return undefined;
  return one(node, context, [context.get(x), starts, ends, moved(axes.constant, x.shape.length), steps]);
};

/** Bounds that differ between members can't go into one Clip. */
const clip: StackRule = (node, context) => {
  const [x, ...bounds] = node.inputs as [Value, ...Value[]];
  if (bounds.some((bound) => bound && context.isStacked(bound))) return undefined;
  return one(node, context, [context.get(x), ...bounds]);
};

const tile: StackRule = (node, context) => {
  const [x, repeats] = node.inputs as [Value, Value];
  if (!repeats.constant) return undefined;
  return one(node, context, [context.get(x), indices([1, ...repeats.constant])]);
};

const expand: StackRule = (node, context) => {
  const shape = [context.members, ...node.outputs[0].shape];
  return one(node, context, [context.aligned(node.inputs[0]!, shape.length - 1), indices(shape)]);
};

/** Matrices of a member are matrices of a batch; shared matrices are broadcast. */
const matMul: StackRule = (node, context) => {
  const rank = node.outputs[0].shape.length;
  const [a, b] = node.inputs as [Value, Value];
  if (a.shape.length < 2 || b.shape.length < 2) return undefined;
  return one(node, context, [context.aligned(a, rank), context.aligned(b, rank)]);
};

/** alpha A' B' + beta C as a batched product and a sum. */
const gemm: StackRule = (node, context) => {
  const { builder } = context;
  const [a, b, c] = node.inputs as [Value, Value, Value | undefined];
  const { transA = 0, transB = 0, alpha = { float: 1 }, beta = { float: 1 } } = node.attributes;
  if (realOf(beta) !== 1) return undefined;
  if (!context.isStacked(a) && !context.isStacked(b)) return undefined;
  const output = context.spec(node.outputs[0]);
  const operands = [context.get(a), context.get(b)];
  const isPlain = transA === 0 && transB === 0 && realOf(alpha) === 1;
  const product = isPlain
    ? builder.op('MatMul', operands, output)
    : builder.microsoft('FusedMatMul', operands, output, { transA, transB, alpha });
  return [c ? builder.op('Add', [product, context.aligned(c, 2)], output) : product];
};

function realOf(attribute: unknown): number {
  return typeof attribute === 'object' ? (attribute as { float: number }).float : (attribute as number);
}

const RULES: Readonly<Record<string, StackRule>> = {
  PRelu: prelu,
  Reshape: reshape,
  Transpose: transpose,
  Softmax: alongAxis,
  LogSoftmax: alongAxis,
  ArgMax: alongAxis,
  ArgMin: alongAxis,
  Split: alongAxis,
  Concat: concat,
  Slice: slice,
  Clip: clip,
  Tile: tile,
  Expand: expand,
  MatMul: matMul,
  FusedMatMul: matMul,
  Gemm: gemm,
};
