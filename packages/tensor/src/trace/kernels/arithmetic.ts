import { backend_util } from '@tensorflow/tfjs-core';
import { type Attributes, type GraphBuilder, scalar, type Value, type ValueType } from '../../graph';
import { kernel } from '../kernel';

/** Elementwise kernels: one ONNX node each, or a few. */
export function registerArithmetic(): void {
  for (const [name, op] of Object.entries(UNARY)) unary(name, op);
  for (const [name, op] of Object.entries(BINARY)) binary(name, op);
  for (const [name, op] of Object.entries(COMPARISONS)) binary(name, op, 'bool');
  registerOddOnes();
}

const UNARY = {
  Abs: 'Abs',
  Exp: 'Exp',
  Log: 'Log',
  Neg: 'Neg',
  Reciprocal: 'Reciprocal',
  Relu: 'Relu',
  Sigmoid: 'Sigmoid',
  Sign: 'Sign',
  Softplus: 'Softplus',
  Sqrt: 'Sqrt',
  Tanh: 'Tanh',
  LogicalNot: 'Not',
};

const BINARY = { Add: 'Add', Sub: 'Sub', Multiply: 'Mul', RealDiv: 'Div', Maximum: 'Max', Minimum: 'Min', Pow: 'Pow' };

const COMPARISONS = {
  Equal: 'Equal',
  Greater: 'Greater',
  GreaterEqual: 'GreaterOrEqual',
  Less: 'Less',
  LessEqual: 'LessOrEqual',
  LogicalAnd: 'And',
  LogicalOr: 'Or',
};

function unary(name: string, op: string, attributes: Attributes = {}): void {
  kernel(name, ({ inputs: { x }, graph }) => graph.op(op, [x], x!, attributes));
}

function binary(name: string, op: string, dtype?: ValueType): void {
  kernel(name, ({ inputs: { a, b }, graph }) => elementwise(graph, op, a!, b!, dtype));
}

/** A node of two operands that are broadcast to each other. */
export function elementwise(graph: GraphBuilder, op: string, a: Value, b: Value, dtype: ValueType = a.dtype): Value {
  const shape = backend_util.assertAndGetBroadcastShape([...a.shape], [...b.shape]);
  return graph.op(op, [a, b], { shape, dtype });
}

const CODES: Record<ValueType, number> = { float32: 1, uint8: 2, int32: 6, int64: 7, bool: 9 };

/** A value as another dtype; itself if it has that. */
export function cast(graph: GraphBuilder, x: Value, dtype: ValueType): Value {
  return x.dtype === dtype ? x : graph.op('Cast', [x], { shape: x.shape, dtype }, { to: CODES[dtype] });
}

function registerOddOnes(): void {
  kernel('Identity', ({ inputs: { x } }) => x!);
  kernel<{ dtype: ValueType }>('Cast', ({ inputs: { x }, attrs, graph }) => cast(graph, x!, attrs.dtype));
  kernel('Square', ({ inputs: { x }, graph }) => graph.op('Mul', [x, x], x!));
  kernel('Rsqrt', ({ inputs: { x }, graph }) => graph.op('Reciprocal', [graph.op('Sqrt', [x], x!)], x!));
  kernel('NotEqual', ({ inputs: { a, b }, graph }) => {
    const equal = elementwise(graph, 'Equal', a!, b!, 'bool');
    return graph.op('Not', [equal], equal);
  });
  kernel('SquaredDifference', ({ inputs: { a, b }, graph }) => {
    const difference = elementwise(graph, 'Sub', a!, b!);
    return graph.op('Mul', [difference, difference], difference);
  });
  kernel<{ clipValueMin: number; clipValueMax: number }>('ClipByValue', ({ inputs: { x }, attrs, graph }) => {
    const { clipValueMin, clipValueMax } = attrs;
    return graph.op('Clip', [x, scalar(clipValueMin, x!.dtype), scalar(clipValueMax, x!.dtype)], x!);
  });
  // Step is 1 above 0 and alpha x elsewhere; alpha is 0 unless asked otherwise. NaN stays NaN.
  kernel<{ alpha: number }>('Step', ({ inputs: { x }, attrs, graph }) => {
    const isAbove = graph.op('Greater', [x, scalar(0, x!.dtype)], { shape: x!.shape, dtype: 'bool' });
    const below = graph.op('Mul', [x, scalar(attrs.alpha ?? 0, x!.dtype)], x!);
    return graph.op('Where', [isAbove, scalar(1, x!.dtype), below], x!);
  });
  kernel('Select', ({ inputs: { condition, t, e }, graph }) => {
    const rank = t!.shape.length;
    const c = condition!;
    const isRowwise = c.shape.length === 1 && rank > 1;
    const column = isRowwise ? [c.shape[0], ...Array(rank - 1).fill(1)] : c.shape;
    return graph.op('Where', [reshape(graph, c, column), t, e], t!);
  });
}

/** A value in another shape of the same size; itself if it has that. */
export function reshape(graph: GraphBuilder, x: Value, shape: readonly number[]): Value {
  if (x.shape.length === shape.length && x.shape.every((size, axis) => size === shape[axis])) return x;
  if (x.constant) return { shape, dtype: x.dtype, constant: x.constant };
  const target: Value = { shape: [shape.length], dtype: 'int64', constant: Int32Array.from(shape) };
  return graph.op('Reshape', [x, target], { shape, dtype: x.dtype }, { allowzero: 1 });
}
