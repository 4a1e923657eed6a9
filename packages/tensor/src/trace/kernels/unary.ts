import { type GraphBuilder, scalar, type Value } from '../../graph';
import { kernel } from '../kernel';
import { cast, compare, elementwise, where } from './arithmetic';

/** Elementwise kernels of one operand; the activations are in a file of their own. */
export function registerUnary(): void {
  for (const [name, op] of Object.entries(FLOAT)) {
    kernel(name, ({ inputs: { x }, graph }) => inFloat(graph, x!, (y) => graph.op(op, [y], y)));
  }
  for (const [name, op] of Object.entries(NUMERIC)) {
    kernel(name, ({ inputs: { x }, graph }) => inNumbers(graph, x!, (y) => graph.op(op, [y], y)));
  }
  for (const name of ['Floor', 'Ceil', 'Round']) {
    kernel(name, ({ inputs: { x }, graph }) => (x!.dtype === 'float32' ? graph.op(name, [x], x!) : x!));
  }
  // tfjs keeps the dtype of whole numbers everywhere but here.
  kernel('Exp', ({ inputs: { x }, graph }) => exponential(graph, cast(graph, x!, 'float32')));
  kernel('Expm1', ({ inputs: { x }, graph }) => inFloat(graph, x!, (y) => expm1(graph, y)));
  kernel('Log1p', ({ inputs: { x }, graph }) => inFloat(graph, x!, (y) => log1p(graph, y)));
  kernel('Square', ({ inputs: { x }, graph }) => inNumbers(graph, x!, (y) => graph.op('Mul', [y, y], y)));
  kernel('Rsqrt', ({ inputs: { x }, graph }) =>
    inFloat(graph, x!, (y) => graph.op('Reciprocal', [graph.op('Sqrt', [y], y)], y)),
  );
  kernel('Sign', ({ inputs: { x }, graph }) => inNumbers(graph, x!, (y) => sign(graph, y)));
  registerClip();
  registerTests();
}

/** -1, 0 or 1; of NaN it's 0 in tfjs, but NaN in ONNX. */
function sign(graph: GraphBuilder, x: Value): Value {
  if (x.dtype !== 'float32') return graph.op('Sign', [x], x);
  const is = (op: string) => cast(graph, compare(graph, op, x, 0), 'float32');
  return graph.op('Sub', [is('Greater'), is('Less')], x);
}

/** ONNX Runtime has these for float32 alone. */
const FLOAT = {
  Acos: 'Acos',
  Acosh: 'Acosh',
  Asin: 'Asin',
  Asinh: 'Asinh',
  Atan: 'Atan',
  Atanh: 'Atanh',
  Cos: 'Cos',
  Cosh: 'Cosh',
  Erf: 'Erf',
  Log: 'Log',
  Reciprocal: 'Reciprocal',
  Sigmoid: 'Sigmoid',
  Sin: 'Sin',
  Sinh: 'Sinh',
  Softplus: 'Softplus',
  Sqrt: 'Sqrt',
  Tan: 'Tan',
  Tanh: 'Tanh',
};

/** And these for int32 too. */
const NUMERIC = { Abs: 'Abs', Neg: 'Neg' };

/** Computes in float32; the result has the dtype of `x` again, as in tfjs. */
export function inFloat(graph: GraphBuilder, x: Value, body: (x: Value) => Value): Value {
  return cast(graph, body(cast(graph, x, 'float32')), x.dtype);
}

/** Computes in int32 where `x` is boolean. */
function inNumbers(graph: GraphBuilder, x: Value, body: (x: Value) => Value): Value {
  return x.dtype === 'bool' ? cast(graph, body(cast(graph, x, 'int32')), 'bool') : body(x);
}

function exponential(graph: GraphBuilder, x: Value): Value {
  return graph.op('Exp', [x], x);
}

/** exp(x) - 1 = tanh(x / 2) (exp(x) + 1), which keeps its digits near 0. */
function expm1(graph: GraphBuilder, x: Value): Value {
  const half = graph.op('Mul', [x, scalar(0.5)], x);
  const sum = graph.op('Add', [exponential(graph, x), scalar(1)], x);
  return graph.op('Mul', [graph.op('Tanh', [half], x), sum], x);
}

/**
 * log(1 + x) with its digits near 0: with u = 1 + x as rounded, log(u) x / (u - 1), and x where u is 1 (Kahan; Goldberg
 * 1991, theorem 4).
 */
function log1p(graph: GraphBuilder, x: Value): Value {
  const u = graph.op('Add', [x, scalar(1)], x);
  const ratio = elementwise(graph, 'Div', x, graph.op('Sub', [u, scalar(1)], x));
  const exact = graph.op('Mul', [graph.op('Log', [u], x), ratio], x);
  const isTrivial = elementwise(graph, 'Or', compare(graph, 'Equal', u, 1), compare(graph, 'Equal', u, Infinity));
  return where(graph, isTrivial, x, exact);
}

function registerClip(): void {
  kernel<{ clipValueMin: number; clipValueMax: number }>('ClipByValue', ({ inputs: { x }, attrs, graph }) =>
    clip(graph, x!, attrs.clipValueMin, attrs.clipValueMax),
  );
  // Step is 1 above 0 and alpha elsewhere; alpha is 0 unless asked otherwise. NaN stays NaN.
  kernel<{ alpha?: number }>('Step', ({ inputs: { x }, attrs, graph }) =>
    inNumbers(graph, x!, (y) => {
      if (y.dtype === 'float32' && !attrs.alpha) return unitStep(graph, y);
      const stepped = where(
        graph,
        compare(graph, 'Greater', y, 0),
        scalar(1, y.dtype),
        scalar(attrs.alpha ?? 0, y.dtype),
      );
      if (y.dtype === 'int32') return stepped;
      const isNumber = elementwise(graph, 'Equal', y, y, 'bool');
      return where(graph, isNumber, stepped, y);
    }),
  );
}

/**
 * The gradient of relu, so it should be cheap: min(1, 3.4e38 relu(x)) takes a fifth of the time of Greater and Where.
 * relu(x) is there already. Exact but for numbers below 3e-39, which get a step between 0 and 1.
 */
function unitStep(graph: GraphBuilder, x: Value): Value {
  const slope = { alpha: { float: 3.4e38 }, beta: { float: 0 } };
  return graph.op('HardSigmoid', [graph.op('Relu', [x], x)], x, slope);
}

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

/** A value held within bounds, which may be infinite. */
export function clip(graph: GraphBuilder, x: Value, low: number, high: number): Value {
  if (x.dtype === 'float32') return graph.op('Clip', [x, scalar(low), scalar(high)], x);
  const bound = (limit: number) => scalar(Math.trunc(Math.min(INT32_MAX, Math.max(INT32_MIN, limit))), 'int32');
  return inNumbers(graph, x, (y) => graph.op('Clip', [y, bound(low), bound(high)], y));
}

function registerTests(): void {
  kernel('IsNan', ({ inputs: { x }, graph }) => {
    const y = cast(graph, x!, 'float32');
    return graph.op('IsNaN', [y], { shape: y.shape, dtype: 'bool' });
  });
  kernel('IsInf', ({ inputs: { x }, graph }) => {
    const y = cast(graph, x!, 'float32');
    return graph.op('IsInf', [y], { shape: y.shape, dtype: 'bool' });
  });
  kernel('IsFinite', ({ inputs: { x }, graph }) => {
    const y = cast(graph, x!, 'float32');
    return compare(graph, 'Less', graph.op('Abs', [y], y), Infinity);
  });
}
