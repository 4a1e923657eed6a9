import { elements, type Node, type RewriteContext, type Rule, reshape as reshapeIn, type Value } from '../../graph';
import { isLike, madeBy, permOf } from '../patterns';
import { expand } from './broadcasts';

/** Changes of shape, order and type that undo or repeat each other. */
export const shapeRules: Readonly<Record<string, Rule>> = {
  Identity: ({ inputs: [x] }) => [x!],
  Reshape: reshapeAgain,
  Squeeze: reshapeAgain,
  Unsqueeze: reshapeAgain,
  Expand({ inputs: [x], outputs: [output] }, context) {
    if (isLike(x!, output)) return [x!];
    const before = madeBy(x, context, 'Expand')?.inputs[0];
    return before && [expand(context, before, output)];
  },
  Tile({ inputs: [x], outputs: [output] }, context) {
    if (isLike(x!, output)) return [x!];
    const isRepeated = x!.shape.every((size, axis) => size === 1 || size === output.shape[axis]);
    return isRepeated ? [expand(context, x!, output)] : undefined;
  },
  Cast({ inputs: [x], outputs: [output], attributes }, context) {
    if (x!.dtype === output.dtype) return [x!];
    const before = madeBy(x, context, 'Cast')?.inputs[0];
    if (before?.dtype !== 'bool') return undefined;
    return before.dtype === output.dtype ? [before] : [context.builder.op('Cast', [before], output, attributes)];
  },
  Transpose(node, context) {
    const [x] = node.inputs as [Value];
    const before = madeBy(x, context, 'Transpose');
    if (before)
      return [
        transpose(
          context,
          before.inputs[0]!,
          permOf(node).map((axis) => permOf(before)[axis]),
        ),
      ];
    return onlyMovesOnes(x, permOf(node)) ? [reshape(context, x, node.outputs[0].shape)] : undefined;
  },
};

function reshapeAgain(
  { op, inputs: [x], outputs: [output] }: Node,
  context: RewriteContext,
): readonly Value[] | undefined {
  if (isLike(x!, output)) return [x!];
  if (elements(output) === 0) return undefined;
  const before = madeBy(x, context, 'Reshape', 'Squeeze', 'Unsqueeze');
  if (before) return [reshape(context, before.inputs[0]!, output.shape)];
  const expanded = madeBy(x, context, 'Expand')?.inputs[0];
  if (expanded && elements(expanded) === 1) {
    return [
      expand(
        context,
        reshape(
          context,
          expanded,
          output.shape.map(() => 1),
        ),
        output,
      ),
    ];
  }
  return op === 'Reshape' ? undefined : [reshape(context, x!, output.shape)];
}

/** A value in another shape of the same size; itself if it has that. */
export function reshape({ builder }: RewriteContext, x: Value, shape: readonly number[]): Value {
  return reshapeIn(builder, x, shape);
}

/** A value with its axes in another order; itself if the order is the same. */
export function transpose({ builder }: RewriteContext, x: Value, perm: readonly number[]): Value {
  if (perm.every((axis, i) => axis === i)) return x;
  const shape = perm.map((axis) => x.shape[axis]);
  return builder.op('Transpose', [x], { shape, dtype: x.dtype }, { perm });
}

/** Whether the axes longer than 1 keep their order, so that the numbers stay where they are. */
function onlyMovesOnes(x: Value, perm: readonly number[]): boolean {
  const moved = perm.filter((axis) => x.shape[axis] !== 1);
  return moved.every((axis, i) => i === 0 || axis > moved[i - 1]);
}
