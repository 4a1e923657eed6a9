import type { Node, Value } from '../../graph';
import { broadcastSteps, filledBy, offsets } from './arrays';

/**
 * Rounded to float32 afterwards by being stored, which gives the correctly rounded result for the four basic
 * operations.
 */
const FUNCTIONS: Record<string, (...operands: number[]) => number> = {
  Abs: Math.abs,
  Add: (a, b) => a + b,
  And: (a, b) => a & b,
  Cast: (a) => a,
  Clip: (x, low, high) => Math.min(Math.max(x, low ?? -Infinity), high ?? Infinity),
  Cos: Math.cos,
  Div: (a, b) => a / b,
  Equal: (a, b) => Number(a === b),
  Exp: Math.exp,
  Floor: Math.floor,
  Greater: (a, b) => Number(a > b),
  GreaterOrEqual: (a, b) => Number(a >= b),
  Identity: (a) => a,
  Less: (a, b) => Number(a < b),
  LessOrEqual: (a, b) => Number(a <= b),
  Log: Math.log,
  Max: Math.max,
  Min: Math.min,
  Mul: (a, b) => a * b,
  Neg: (a) => -a,
  Not: (a) => 1 - a,
  Or: (a, b) => a | b,
  Pow: (a, b) => a ** b,
  Reciprocal: (a) => 1 / a,
  Relu: (a) => Math.max(a, 0),
  Sigmoid: (a) => 1 / (1 + Math.exp(-a)),
  Sign: Math.sign,
  Sin: Math.sin,
  Sqrt: Math.sqrt,
  Sub: (a, b) => a - b,
  Sum: (...terms) => terms.reduce((sum, term) => sum + term, 0),
  Tanh: Math.tanh,
  Where: (condition, a, b) => (condition === 0 ? b : a),
  Xor: (a, b) => a ^ b,
};

/** Operations on whole numbers that a double can't be trusted with. */
const FLOAT_ONLY = new Set(['Div', 'Pow', 'Mul', 'Log', 'Exp']);

/** Computes a node that works on each element by itself. */
export function evaluateElementwise(node: Node): readonly Value[] | undefined {
  const f = FUNCTIONS[node.op];
  const [output] = node.outputs;
  if (!f || (FLOAT_ONLY.has(node.op) && output.dtype !== 'float32')) return undefined;
  const operands = node.inputs.map((input) => input && operandOf(input, output));
  const convert = converterTo(output);
  return [filledBy(output, (i) => convert(f(...operands.map((operand) => operand?.(i) as number))))];
}

function operandOf(input: Value, { shape }: Value): (index: number) => number {
  const data = input.constant!;
  if (data.length === 1) return () => data[0];
  const places = offsets(shape, broadcastSteps(input.shape, shape));
  return (i) => data[places[i]];
}

function converterTo({ dtype }: Value): (entry: number) => number {
  if (dtype === 'bool') return (entry) => Number(entry !== 0);
  return dtype === 'float32' ? (entry) => entry : Math.trunc;
}
