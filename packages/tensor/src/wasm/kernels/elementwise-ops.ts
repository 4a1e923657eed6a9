import { type Attribute, type Node, uniformValue } from '../../graph';
import type { Code, Local } from '../assembler';
import { callForLanes, type ScalarFunction } from '../imports';
import { cos, elu, erf, exp, log, selu, sigmoid, sin, softplus, tanh } from './functions';

/** Leaves four numbers of a node's result on the stack; booleans are all bits of a lane, or none. */
type Emit = (code: Code, operands: readonly (Local | undefined)[], node: Node) => void;

/** The code of a node that works on each number by itself; undefined for other nodes and dtypes. */
export function elementwiseCode(node: Node): Emit | undefined {
  if (node.domain !== undefined || node.outputs.length !== 1) return undefined;
  if (node.op === 'Cast') return castCode(node);
  const dtype = node.inputs[0]?.dtype;
  if (node.op === 'Where') return select;
  if (dtype === 'bool') return BOOLEAN[node.op];
  if (dtype === 'int32' || dtype === 'int64' || dtype === 'uint8') return INTEGER[node.op];
  return FLOAT[node.op];
}

type Instruction = Parameters<Code['op']>[0];

/** One instruction of one or two operands; of more operands, from left to right. */
const plain =
  (name: Instruction): Emit =>
  (code, operands) => {
    code.get(operands[0]!);
    if (operands.length === 1) code.op(name);
    for (const operand of operands.slice(1)) {
      code.get(operand!);
      code.op(name);
    }
  };

const unary =
  (f: (code: Code, x: Local) => void): Emit =>
  (code, [x]) =>
    f(code, x!);

const scalar =
  (name: ScalarFunction, type: 'float32' | 'int32' = 'float32'): Emit =>
  (code, operands) =>
    code.scope(() => callForLanes(code, name, operands as readonly Local[], type));

const identity: Emit = (code, [x]) => code.get(x!);

const select: Emit = (code, [condition, a, b]) => {
  code.get(a!);
  code.get(b!);
  code.get(condition!);
  code.op('v128.bitselect');
};

/** 1 where a mask is set. */
function one(code: Code): void {
  code.splat(1);
  code.op('v128.and');
}

function number(attribute: Attribute | undefined, otherwise: number): number {
  if (typeof attribute === 'number') return attribute;
  return typeof attribute === 'object' && 'float' in attribute ? attribute.float : otherwise;
}

const FLOAT: Readonly<Record<string, Emit>> = {
  Abs: plain('f32x4.abs'),
  Acos: scalar('acos'),
  Acosh: scalar('acosh'),
  Add: plain('f32x4.add'),
  Asin: scalar('asin'),
  Asinh: scalar('asinh'),
  Atan: scalar('atan'),
  Atanh: scalar('atanh'),
  Ceil: plain('f32x4.ceil'),
  Clip(code, [x, low, high]) {
    code.get(x!);
    for (const [bound, name] of [
      [high, 'f32x4.pmin'],
      [low, 'f32x4.pmax'],
    ] as const) {
      if (!bound) continue;
      code.get(bound);
      code.op(name);
    }
  },
  Cos: unary(cos),
  Cosh: scalar('cosh'),
  Div: plain('f32x4.div'),
  Elu: (code, [x], { attributes }) => elu(number(attributes['alpha'], 1))(code, x!),
  Equal: plain('f32x4.eq'),
  Erf: unary(erf),
  Exp: unary(exp),
  Floor: plain('f32x4.floor'),
  Greater: plain('f32x4.gt'),
  GreaterOrEqual: plain('f32x4.ge'),
  HardSigmoid(code, [x], { attributes }) {
    code.get(x!);
    code.splat(number(attributes['alpha'], 0.2));
    code.op('f32x4.mul');
    code.splat(number(attributes['beta'], 0.5));
    code.op('f32x4.add');
    code.splat(1);
    code.op('f32x4.pmin');
    code.splat(0);
    code.op('f32x4.pmax');
  },
  Identity: identity,
  IsInf(code, [x]) {
    code.get(x!);
    code.op('f32x4.abs');
    code.splat(Infinity);
    code.op('f32x4.eq');
  },
  IsNaN(code, [x]) {
    code.get(x!);
    code.get(x!);
    code.op('f32x4.ne');
  },
  LeakyRelu(code, [x], { attributes }) {
    code.get(x!);
    code.get(x!);
    code.splat(number(attributes['alpha'], 0.01));
    code.op('f32x4.mul');
    code.get(x!);
    code.splat(0);
    code.op('f32x4.ge');
    code.op('v128.bitselect');
  },
  Less: plain('f32x4.lt'),
  LessOrEqual: plain('f32x4.le'),
  Log: unary(log),
  Max: plain('f32x4.max'),
  Min: plain('f32x4.min'),
  Mod: scalar('remainder'),
  Mul: plain('f32x4.mul'),
  Neg: plain('f32x4.neg'),
  PRelu(code, [x, slope]) {
    code.get(x!);
    code.get(slope!);
    code.op('f32x4.mul');
    code.get(x!);
    code.get(x!);
    code.splat(0);
    code.op('f32x4.lt');
    code.op('v128.bitselect');
  },
  Pow(code, operands, node) {
    const [x] = operands;
    const exponent = uniformValue(node.inputs[1]);
    if (exponent === 2) {
      code.get(x!);
      code.get(x!);
      code.op('f32x4.mul');
    } else scalar('pow')(code, operands, node);
  },
  Reciprocal(code, [x]) {
    code.splat(1);
    code.get(x!);
    code.op('f32x4.div');
  },
  Relu(code, [x]) {
    code.get(x!);
    code.splat(0);
    code.op('f32x4.pmax'); // unlike max one instruction of the processor; NaN stays, too
  },
  Round: plain('f32x4.nearest'),
  Selu: unary(selu),
  Sigmoid: unary(sigmoid),
  Sign(code, [x]) {
    code.get(x!);
    for (const name of ['f32x4.gt', 'f32x4.lt'] as const) {
      code.get(x!);
      code.splat(0);
      code.op(name);
      one(code);
    }
    code.op('f32x4.sub');
    code.get(x!);
    code.get(x!);
    code.op('f32x4.ne');
    code.op('v128.bitselect');
  },
  Sin: unary(sin),
  Sinh: scalar('sinh'),
  Softplus: unary(softplus),
  Softsign(code, [x]) {
    code.get(x!);
    code.get(x!);
    code.op('f32x4.abs');
    code.splat(1);
    code.op('f32x4.add');
    code.op('f32x4.div');
  },
  Sqrt: plain('f32x4.sqrt'),
  Sub: plain('f32x4.sub'),
  Sum: plain('f32x4.add'),
  Tan: scalar('tan'),
  Tanh: unary(tanh),
};

const INTEGER: Readonly<Record<string, Emit>> = {
  Abs: plain('i32x4.abs'),
  Add: plain('i32x4.add'),
  BitwiseAnd: plain('v128.and'),
  Clip(code, [x, low, high]) {
    code.get(x!);
    for (const [bound, name] of [
      [high, 'i32x4.min_s'],
      [low, 'i32x4.max_s'],
    ] as const) {
      if (!bound) continue;
      code.get(bound);
      code.op(name);
    }
  },
  Div: scalar('quotient', 'int32'),
  Equal: plain('i32x4.eq'),
  Greater: plain('i32x4.gt_s'),
  GreaterOrEqual: plain('i32x4.ge_s'),
  Identity: identity,
  Less: plain('i32x4.lt_s'),
  LessOrEqual: plain('i32x4.le_s'),
  Max: plain('i32x4.max_s'),
  Min: plain('i32x4.min_s'),
  Mod: scalar('modulo', 'int32'),
  Mul: plain('i32x4.mul'),
  Neg: plain('i32x4.neg'),
  Pow: scalar('pow', 'int32'),
  Relu(code, [x]) {
    code.get(x!);
    code.splatInt(0);
    code.op('i32x4.max_s');
  },
  Sign(code, [x]) {
    for (const name of ['i32x4.lt_s', 'i32x4.gt_s'] as const) {
      code.get(x!);
      code.splatInt(0);
      code.op(name);
    }
    code.op('i32x4.sub');
  },
  Sub: plain('i32x4.sub'),
  Sum: plain('i32x4.add'),
};

const BOOLEAN: Readonly<Record<string, Emit>> = {
  And: plain('v128.and'),
  Equal: plain('i32x4.eq'),
  Identity: identity,
  Not: plain('v128.not'),
  Or: plain('v128.or'),
  Xor: plain('v128.xor'),
};

type Family = 'float' | 'integer' | 'bool';
const FAMILIES = { float32: 'float', int32: 'integer', int64: 'integer', uint8: 'integer', bool: 'bool' } as const;

const CASTS: Readonly<Record<`${Family} to ${Family}`, Emit>> = {
  'float to float': identity,
  'integer to integer': identity,
  'bool to bool': identity,
  'float to integer': plain('i32x4.trunc_sat_f32x4_s'),
  'integer to float': plain('f32x4.convert_i32x4_s'),
  'float to bool'(code, [x]) {
    code.get(x!);
    code.splat(0);
    code.op('f32x4.ne');
  },
  'integer to bool'(code, [x]) {
    code.get(x!);
    code.splatInt(0);
    code.op('i32x4.ne');
  },
  'bool to float'(code, [x]) {
    code.get(x!);
    one(code);
  },
  'bool to integer'(code, [x]) {
    code.get(x!);
    code.splatInt(1);
    code.op('v128.and');
  },
};

function castCode({ inputs: [x], outputs: [y] }: Node): Emit {
  return CASTS[`${FAMILIES[x!.dtype]} to ${FAMILIES[y.dtype]}`];
}
