import { type Attribute, type Node, type RewriteContext, sameShape, uniformValue, type Value } from '../graph';

/** The node that makes a value, if it is one of these operations. */
export function madeBy(value: Value | undefined, context: RewriteContext, ...ops: readonly string[]): Node | undefined {
  const node = context.maker(value);
  return node && ops.includes(node.op) ? node : undefined;
}

/** A whole-number attribute. */
export function integerOf(node: Node, name: string, otherwise: number): number {
  const value: Attribute | undefined = node.attributes[name];
  return typeof value === 'number' ? value : otherwise;
}

/** The axis attribute, counted from the front. */
export function axisOf(node: Node): number {
  const axis = integerOf(node, 'axis', 0);
  return axis < 0 ? axis + node.outputs[0].shape.length : axis;
}

/** The order of axes of a Transpose. */
export function permOf(node: Node): readonly number[] {
  const perm = node.attributes['perm'];
  return Array.isArray(perm) ? perm : [...node.outputs[0].shape.keys()].reverse();
}

/** The axes that a Reduce operation takes away, counted from the front; all where none are named. */
export function reducedAxes(node: Node): readonly number[] {
  const [x, axes] = node.inputs;
  const rank = x!.shape.length;
  if (!axes) return [...x!.shape.keys()];
  return Array.from(axes.constant ?? [], (axis) => (axis < 0 ? axis + rank : axis));
}

/** Whether one value may stand for another. */
export function isLike(a: Value, b: Value): boolean {
  return a.dtype === b.dtype && sameShape(a.shape, b.shape);
}

/** Whether a value is this number everywhere. */
export function isUniform(value: Value | undefined, number: number): boolean {
  return uniformValue(value) === number;
}

/** The shape that operands are broadcast to, which they must allow. */
export function broadcastShape(shapes: readonly (readonly number[])[]): number[] {
  const rank = Math.max(...shapes.map(({ length }) => length));
  return Array.from({ length: rank }, (_, axis) => {
    const sizes = shapes.map((shape) => shape[axis + shape.length - rank] ?? 1);
    return sizes.find((size) => size !== 1) ?? 1;
  });
}

/** Operations that work on each element by itself, with one operand. */
export const UNARY = new Set([
  ...[
    'Abs',
    'Cast',
    'Ceil',
    'Elu',
    'Erf',
    'Exp',
    'Floor',
    'HardSigmoid',
    'LeakyRelu',
    'Log',
    'Neg',
    'Not',
    'Reciprocal',
    'Relu',
  ],
  ...['Round', 'Selu', 'Sigmoid', 'Sign', 'Softplus', 'Softsign', 'Sqrt', 'Tanh', 'Sin', 'Cos'],
]);

/** Operations that work on each element by itself, with operands that are broadcast to each other. */
export const BROADCAST = new Set([
  ...['Add', 'Sub', 'Mul', 'Div', 'Max', 'Min', 'Pow', 'Sum', 'Where', 'Mod'],
  ...['Equal', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual', 'And', 'Or', 'Xor'],
]);

/** Whether a node works on each element by itself. Clip does so with scalar bounds. */
export function isElementwise({ op, domain }: Node): boolean {
  return domain === undefined && (UNARY.has(op) || BROADCAST.has(op) || op === 'Clip');
}
