import { type Graph, indices, type Node, type RewriteContext, rewrite, sameShape, type Value } from '../../graph';
import { axisOf, integerOf, isElementwise, madeBy, permOf, reducedAxes } from '../patterns';
import { reshape, transpose } from '../simplify/shapes';

/**
 * Moves Transpose nodes down through operations that don't mind the order of axes, until two meet and cancel, or
 * something needs the order. Convolutions, each emitted between two Transposes, then share one layout.
 */
export function sinkTransposes(graph: Graph): Graph {
  return rewrite(graph, (node, context) => {
    if (node.op === 'Transpose') return merged(node, context);
    if (isElementwise(node)) return throughElementwise(node, context);
    if (node.op === 'Concat') return throughConcat(node, context);
    if (node.op === 'Slice') return throughSlice(node, context);
    if (node.op.startsWith('Reduce') && node.inputs.length === 2) return throughReduction(node, context);
    return undefined;
  });
}

function merged(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const before = madeBy(node.inputs[0], context, 'Transpose');
  if (!before) return undefined;
  const first = permOf(before);
  return [
    transpose(
      context,
      before.inputs[0]!,
      permOf(node).map((axis) => first[axis]),
    ),
  ];
}

/** The order of axes in which all operands that matter come, if it's one. */
function commonPerm(inputs: readonly (Value | undefined)[], rank: number, context: RewriteContext) {
  const perms = inputs.flatMap((input) => {
    const transposed = madeBy(input, context, 'Transpose');
    return transposed && transposed.outputs[0].shape.length === rank ? [permOf(transposed)] : [];
  });
  const [perm] = perms;
  return perm && perms.every((other) => sameShape(other, perm)) ? perm : undefined;
}

function throughElementwise(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const [output] = node.outputs;
  const perm = commonPerm(node.inputs, output.shape.length, context);
  if (!perm) return undefined;
  const operands = node.inputs.map((input) => input && inOrderBefore(input, perm, context));
  if (operands.some((operand, i) => node.inputs[i] && !operand)) return undefined;
  return [transpose(context, append(node, operands, untransposed(output.shape, perm), context), perm)];
}

/** An operand as it would have to be for its transpose by `perm` to be the operand; undefined if that takes a copy. */
function inOrderBefore(input: Value, perm: readonly number[], context: RewriteContext): Value | undefined {
  const transposed = madeBy(input, context, 'Transpose');
  if (transposed && input.shape.length === perm.length) return transposed.inputs[0];
  const wide = [...Array(perm.length - input.shape.length).fill(1), ...input.shape];
  const long = wide.filter((size) => size > 1);
  if (input.shape.length === 0 || long.length === 0) return reshape(context, input, []);
  if (long.length > 1) return undefined;
  return reshape(context, input, untransposed(wide, perm));
}

/** The shape whose axes in the order `perm` have these sizes. */
function untransposed(shape: readonly number[], perm: readonly number[]): number[] {
  const before: number[] = Array(shape.length);
  perm.forEach((axis, i) => {
    before[axis] = shape[i];
  });
  return before;
}

/** A copy of a node over other operands. */
function append(
  node: Node,
  inputs: readonly (Value | undefined)[],
  shape: readonly number[],
  context: RewriteContext,
  attributes = node.attributes,
): Value {
  const [{ dtype }] = node.outputs;
  return context.builder.append({ ...node, inputs, outputs: [{ shape, dtype }], attributes })[0];
}

function throughConcat(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const [{ shape }] = node.outputs;
  const perm = commonPerm(node.inputs, shape.length, context);
  const sources = node.inputs.map((input) => madeBy(input, context, 'Transpose')?.inputs[0]);
  if (!perm || sources.includes(undefined)) return undefined;
  const axis = perm[axisOf(node)];
  return [transpose(context, append(node, sources, untransposed(shape, perm), context, { axis }), perm)];
}

function throughSlice(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const [x, starts, ends, axes, ...steps] = node.inputs;
  const [{ shape }] = node.outputs;
  const perm = commonPerm([x], shape.length, context);
  if (!perm || !axes?.constant || context.uses(x!) > 1) return undefined;
  const moved = indices(Array.from(axes.constant, (axis) => perm.at(axis)!));
  const source = madeBy(x, context, 'Transpose')!.inputs[0];
  const sliced = append(node, [source, starts, ends, moved, ...steps], untransposed(shape, perm), context);
  return [transpose(context, sliced, perm)];
}

/** A sum over the same axes before they were moved; the axes that are left must keep their order, or be moved then. */
function throughReduction(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const [x] = node.inputs as [Value];
  const perm = commonPerm([x], x.shape.length, context);
  if (!perm || !node.inputs[1]?.constant) return undefined;
  const axes = reducedAxes(node).map((axis) => perm[axis]);
  const sorted = [...axes].sort((a, b) => a - b);
  const source = madeBy(x, context, 'Transpose')!.inputs[0]!;
  if (integerOf(node, 'keepdims', 1) === 1) {
    const shape = source.shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
    return [transpose(context, append(node, [source, indices(sorted)], shape, context), perm)];
  }
  const left = [...source.shape.keys()].filter((axis) => !axes.includes(axis));
  const order = perm.filter((axis) => !axes.includes(axis)).map((axis) => left.indexOf(axis));
  const shape = left.map((axis) => source.shape[axis]);
  return [transpose(context, append(node, [source, indices(sorted)], shape, context), order)];
}
