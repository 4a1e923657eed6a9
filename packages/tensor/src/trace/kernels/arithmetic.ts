import { backend_util } from '@tensorflow/tfjs-core';
import { constant, type GraphBuilder, scalar, type Value, type ValueType } from '../../graph';
import { ARRAYS } from '../backend';
import { kernel } from '../kernel';

/** Elementwise kernels of two operands, and casts. */
export function registerArithmetic(): void {
  for (const [name, op] of Object.entries(BINARY)) {
    kernel(name, ({ inputs: { a, b }, graph }) => numeric(graph, op, a!, b!));
  }
  kernel('Identity', ({ inputs: { x } }) => x!);
  kernel('Pow', ({ inputs: { a, b }, graph }) => power(graph, a!, b!));
  kernel<{ dtype: ValueType }>('Cast', ({ inputs: { x }, attrs, graph }) =>
    attrs.dtype === 'int32' ? toInteger(graph, x!) : cast(graph, x!, attrs.dtype),
  );
  kernel('AddN', ({ list, graph }) => list.reduce((sum, x) => numeric(graph, 'Add', sum, x)));
  kernel('SquaredDifference', ({ inputs: { a, b }, graph }) => {
    const difference = numeric(graph, 'Sub', a!, b!);
    return graph.op('Mul', [difference, difference], difference);
  });
  kernel('RealDiv', ({ inputs: { a, b }, graph }) =>
    cast(graph, elementwise(graph, 'Div', cast(graph, a!, 'float32'), cast(graph, b!, 'float32')), a!.dtype),
  );
  kernel('FloorDiv', ({ inputs: { a, b }, graph }) => floorDivision(graph, a!, b!));
  kernel('Mod', ({ inputs: { a, b }, graph }) => modulo(graph, a!, b!));
  kernel('Atan2', ({ inputs: { a, b }, graph }) => angle(graph, a!, b!));
  kernel('BitwiseAnd', ({ inputs: { a, b }, graph }) => elementwise(graph, 'BitwiseAnd', a!, b!));
}

const BINARY = { Add: 'Add', Sub: 'Sub', Multiply: 'Mul', Maximum: 'Max', Minimum: 'Min' };

/** The same in int32 where the operands are booleans, for which ONNX has no arithmetic. */
function numeric(graph: GraphBuilder, op: string, a: Value, b: Value): Value {
  if (a.dtype !== 'bool') return elementwise(graph, op, a, cast(graph, b, a.dtype));
  return cast(graph, elementwise(graph, op, cast(graph, a, 'int32'), cast(graph, b, 'int32')), 'bool');
}

/** A node of two operands that are broadcast to each other. */
export function elementwise(graph: GraphBuilder, op: string, a: Value, b: Value, dtype: ValueType = a.dtype): Value {
  const shape = backend_util.assertAndGetBroadcastShape([...a.shape], [...b.shape]);
  return graph.op(op, [a, b], { shape, dtype });
}

/** condition ? a : b, number by number; the three are broadcast. */
export function where(graph: GraphBuilder, condition: Value, a: Value, b: Value): Value {
  const operands = backend_util.assertAndGetBroadcastShape([...a.shape], [...b.shape]);
  const shape = backend_util.assertAndGetBroadcastShape([...condition.shape], operands);
  if (a.dtype !== 'bool') return graph.op('Where', [condition, a, b], { shape, dtype: a.dtype });
  // ONNX Runtime's Where knows no booleans.
  const numbers = graph.op('Where', [condition, cast(graph, a, 'int32'), cast(graph, b, 'int32')], {
    shape,
    dtype: 'int32',
  });
  return cast(graph, numbers, 'bool');
}

const CODES: Record<ValueType, number> = { float32: 1, uint8: 2, int32: 6, int64: 7, bool: 9 };

/**
 * A value as another dtype; itself if it has that. Whole numbers are rounded towards zero, booleans are true for all
 * numbers but 0.
 */
export function cast(graph: GraphBuilder, x: Value, dtype: ValueType): Value {
  if (x.dtype === dtype) return x;
  if (!(dtype in CODES)) throw new Error(`cast: tensors of dtype ${dtype} can't be compiled`);
  if (x.constant) return constant(castData(x.constant, dtype), x.shape, dtype);
  return graph.op('Cast', [x], { shape: x.shape, dtype }, { to: CODES[dtype] });
}

/** A value as int32. Numbers that aren't finite become 0, as in JavaScript; hardware gives other results. */
function toInteger(graph: GraphBuilder, x: Value): Value {
  if (x.dtype !== 'float32' || x.constant) return cast(graph, x, 'int32');
  const isNumber = compare(graph, 'Less', graph.op('Abs', [x], x), Infinity);
  return cast(graph, where(graph, isNumber, x, scalar(0)), 'int32');
}

/** a to the power of b: NaN where b is NaN, also of 1 (which C makes 1). */
function power(graph: GraphBuilder, a: Value, b: Value): Value {
  const result = numeric(graph, 'Pow', a, b);
  if (a.dtype !== 'float32' || b.dtype !== 'float32' || b.constant?.every((x) => !Number.isNaN(x))) return result;
  const isNumber = elementwise(graph, 'Equal', b, b, 'bool');
  return where(graph, isNumber, result, b);
}

function castData(data: NonNullable<Value['constant']>, dtype: ValueType) {
  return dtype === 'bool' ? Uint8Array.from(data, (x) => Number(x !== 0)) : ARRAYS[dtype].from(data);
}

/** A comparison of a value with a number. */
export function compare(graph: GraphBuilder, op: string, x: Value, than: number): Value {
  return graph.op(op, [x, scalar(than, x.dtype)], { shape: x.shape, dtype: 'bool' });
}

/**
 * floor(a / b) as int32, as tfjs defines it: of whole numbers it's exact, and 0 where b is 0 (where C++ would crash).
 */
function floorDivision(graph: GraphBuilder, a: Value, b: Value): Value {
  if (a.dtype === 'float32') {
    const quotient = elementwise(graph, 'Div', a, b);
    return toInteger(graph, graph.op('Floor', [quotient], quotient));
  }
  const [dividend, divisor] = [cast(graph, a, 'int32'), cast(graph, b, 'int32')];
  const safe = withoutZeros(graph, divisor);
  const cut = elementwise(graph, 'Div', dividend, safe);
  const rest = elementwise(graph, 'Sub', dividend, elementwise(graph, 'Mul', cut, safe));
  const isBelow = differInSign(graph, rest, safe);
  const isBetween = elementwise(graph, 'And', graph.op('Not', [compare(graph, 'Equal', rest, 0)], isBelow), isBelow);
  const floor = elementwise(graph, 'Sub', cut, cast(graph, isBetween, 'int32'));
  return zeroWhereZero(graph, floor, divisor);
}

/** a mod b with the sign of b. */
function modulo(graph: GraphBuilder, a: Value, b: Value): Value {
  if (a.dtype === 'int32') {
    // ONNX's Mod of whole numbers has the sign of b.
    return zeroWhereZero(graph, elementwise(graph, 'Mod', a, withoutZeros(graph, b)), b);
  }
  const remainder = floatMod(graph, a, b);
  const moved = floatMod(graph, elementwise(graph, 'Add', remainder, b), b);
  return where(graph, differInSign(graph, a, b), moved, remainder);
}

/** C's fmod, which has the sign of a. */
function floatMod(graph: GraphBuilder, a: Value, b: Value): Value {
  const shape = backend_util.assertAndGetBroadcastShape([...a.shape], [...b.shape]);
  return graph.op('Mod', [a, b], { shape, dtype: a.dtype }, { fmod: 1 });
}

function differInSign(graph: GraphBuilder, a: Value, b: Value): Value {
  return elementwise(graph, 'Xor', compare(graph, 'Less', a, 0), compare(graph, 'Less', b, 0));
}

function hasNoZeros(x: Value): boolean {
  return x.constant?.every((entry) => entry !== 0) ?? false;
}

function withoutZeros(graph: GraphBuilder, divisor: Value): Value {
  if (hasNoZeros(divisor)) return divisor;
  return where(graph, compare(graph, 'Equal', divisor, 0), scalar(1, divisor.dtype), divisor);
}

function zeroWhereZero(graph: GraphBuilder, x: Value, divisor: Value): Value {
  if (hasNoZeros(divisor)) return x;
  return where(graph, compare(graph, 'Equal', divisor, 0), scalar(0, x.dtype), x);
}

/** The angle of the point (b, a), in (-pi, pi]; ONNX has the arctangent of one operand only. */
function angle(graph: GraphBuilder, y: Value, x: Value): Value {
  const [a, b] = [cast(graph, y, 'float32'), cast(graph, x, 'float32')];
  const slope = elementwise(graph, 'Div', a, b);
  const direct = graph.op('Atan', [slope], slope);
  const isDown = compare(graph, 'Less', a, 0);
  const turn = where(graph, isDown, scalar(-Math.PI), scalar(Math.PI));
  const turned = where(graph, compare(graph, 'Less', b, 0), elementwise(graph, 'Add', direct, turn), direct);
  const sign = graph.op('Sign', [a], a);
  const upright = graph.op('Mul', [sign, scalar(Math.PI / 2)], sign);
  return cast(graph, where(graph, compare(graph, 'Equal', b, 0), upright, turned), y.dtype);
}
