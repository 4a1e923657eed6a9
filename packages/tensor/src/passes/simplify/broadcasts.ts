import {
  indices,
  type Node,
  type RewriteContext,
  type Rule,
  sameShape,
  scalar,
  uniformValue,
  type Value,
} from '../../graph';
import { BROADCAST, broadcastShape, isUniform, madeBy, UNARY } from '../patterns';

/**
 * tfjs writes the gradient of a sum or mean as a product with ones of the full shape. Here that becomes Expand, which
 * moves down through operations until one has another operand of the full shape; there it's dropped.
 */
export const broadcastRules: Readonly<Record<string, Rule>> = Object.fromEntries(
  [...BROADCAST, ...UNARY].map((op) => [op, (node, context) => asExpand(node, context) ?? shrink(node, context)]),
);

/** x times ones that are larger than x. */
function asExpand(node: Node, context: RewriteContext): readonly Value[] | undefined {
  if (node.op !== 'Mul') return undefined;
  const [output] = node.outputs;
  const [a, b] = node.inputs as readonly Value[];
  const [x, ones] = isUniform(b, 1) ? [a, b] : [b, a];
  if (!isUniform(ones, 1) || x.constant || sameShape(x.shape, output.shape)) return undefined;
  return [expand(context, x, output)];
}

/** Takes operands before they are expanded, and one number of uniform constants. */
function shrink(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const [output] = node.outputs;
  const inputs = node.inputs as readonly Value[];
  const small = inputs.map((input) => smaller(input, context));
  if (small.every((value, i) => value === inputs[i])) return undefined;
  const shape = broadcastShape(small.map((value) => value.shape));
  const result = context.builder.op(node.op, small, { shape, dtype: output.dtype }, node.attributes);
  return [sameShape(shape, output.shape) ? result : expand(context, result, output)];
}

/** A value that broadcasts to the same. */
function smaller(value: Value, context: RewriteContext): Value {
  const uniform = value.shape.length === 0 ? undefined : uniformValue(value);
  if (uniform !== undefined) return scalar(uniform, value.dtype);
  return madeBy(value, context, 'Expand')?.inputs[0] ?? value;
}

/** A value repeated to a shape. */
export function expand({ builder }: RewriteContext, x: Value, { shape }: Value): Value {
  return builder.op('Expand', [x, indices(shape)], { shape, dtype: x.dtype });
}
