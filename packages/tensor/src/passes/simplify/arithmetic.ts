import { type Node, type RewriteContext, type Rule, sameShape, scalar, uniformValue, type Value } from '../../graph';
import { isLike, isUniform, madeBy } from '../patterns';

/** Sums, products and their like with constants, and with each other. */
export const arithmeticRules: Readonly<Record<string, Rule>> = {
  Add(node, context) {
    const [a, b] = operands(node);
    for (const [x, other] of [
      [a, b],
      [b, a],
    ]) {
      if (isUniform(other, 0) && isLike(x, node.outputs[0])) return [x];
      const negated = madeBy(other, context, 'Neg');
      if (negated) return binary(context, 'Sub', x, negated.inputs[0]!, node);
    }
    return undefined;
  },
  Sub(node, context) {
    const [a, b] = operands(node);
    if (isUniform(b, 0) && isLike(a, node.outputs[0])) return [a];
    if (isUniform(a, 0) && isLike(b, node.outputs[0])) return [context.builder.op('Neg', [b], b)];
    const negated = madeBy(b, context, 'Neg');
    return negated && binary(context, 'Add', a, negated.inputs[0]!, node);
  },
  Mul(node, context) {
    const [a, b] = operands(node);
    const isSwapped = uniformValue(b) === undefined;
    const [x, factor] = isSwapped ? [b, uniformValue(a)] : [a, uniformValue(b)];
    if (factor === undefined || !isLike(x, node.outputs[0])) return undefined;
    const shorter = shorterProduct(x, factor, context);
    if (shorter) return [shorter];
    return isSwapped ? [times(x, factor, context)] : undefined;
  },
  Div(node, context) {
    const [a, b] = operands(node);
    const divisor = uniformValue(b);
    const isReal = node.outputs[0].dtype === 'float32';
    if (divisor === undefined || !isLike(a, node.outputs[0])) return undefined;
    if (divisor === 1) return [a];
    const inverse = Math.fround(1 / divisor);
    if (!isReal || !isNormal(inverse)) return undefined;
    return [times(a, inverse, context)];
  },
  Neg(node, context) {
    const [x] = operands(node);
    const maker = madeBy(x, context, 'Neg', 'Sub', 'Mul');
    if (!maker) return undefined;
    const [a, b] = operands(maker);
    if (maker.op === 'Neg') return [a];
    if (maker.op === 'Sub') return context.uses(x) <= 1 ? binary(context, 'Sub', b, a, node) : undefined;
    const factor = uniformValue(b);
    return factor === undefined || !isLike(a, x) ? undefined : [times(a, -factor, context)];
  },
  Pow(node, context) {
    const [x, exponent] = operands(node);
    if (!isLike(x, node.outputs[0])) return undefined;
    if (isUniform(exponent, 1)) return [x];
    if (isUniform(exponent, 2)) return [context.builder.op('Mul', [x, x], x)];
    return undefined;
  },
  Not(node, context) {
    const negated = madeBy(node.inputs[0], context, 'Not');
    return negated && [negated.inputs[0]!];
  },
  Where(node, context) {
    const [condition, a, b] = operands(node);
    if (a === b && isLike(a, node.outputs[0])) return [a];
    const negated = madeBy(condition, context, 'Not');
    return negated && [context.builder.op('Where', [negated.inputs[0], b, a], node.outputs[0])];
  },
};

function operands(node: Node): [Value, Value, Value] {
  return node.inputs as unknown as [Value, Value, Value];
}

function binary({ builder }: RewriteContext, op: string, a: Value, b: Value, { outputs }: Node): readonly Value[] {
  return [builder.op(op, [a, b], outputs[0])];
}

/** x times a number, the number second. */
function times(x: Value, factor: number, context: RewriteContext): Value {
  return shorterProduct(x, factor, context) ?? context.builder.op('Mul', [x, scalar(factor, x.dtype)], x);
}

/** x times a number, chains of such products merged; undefined where that's the plain product. */
function shorterProduct(x: Value, factor: number, context: RewriteContext): Value | undefined {
  if (factor === 1) return x;
  if (factor === -1) return context.builder.op('Neg', [x], x);
  if (x.dtype !== 'float32') return undefined;
  const maker = madeBy(x, context, 'Mul', 'Neg');
  if (!maker) return undefined;
  const [inner, constant] = maker.inputs;
  const known = maker.op === 'Neg' ? -1 : uniformValue(constant);
  if (known === undefined || !sameShape(inner!.shape, x.shape)) return undefined;
  const product = Math.fround(factor * known);
  if (!isNormal(product)) return undefined;
  if (product === 1) return inner!;
  return context.builder.op('Mul', [inner, scalar(product)], x);
}

/** Neither 0 nor infinite nor so small that digits are missing in float32. */
function isNormal(x: number): boolean {
  return Math.abs(x) > 2 ** -126 && Math.abs(x) < 2 ** 127;
}
