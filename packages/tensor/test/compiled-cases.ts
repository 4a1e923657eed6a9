import { type NDArray, ndarray } from '@coplay/core';
import { tf } from '@coplay/tensor';
import { floats, ints } from './compiled';

/** A function that is checked compiled against eager; its gradients too unless `forwardOnly`. */
export interface CompiledCase {
  readonly name: string;
  readonly f: (...x: tf.Tensor[]) => tf.Tensor;
  readonly args: readonly NDArray[];
  readonly forwardOnly?: boolean;
}

/** n numbers of both signs, all different. */
export function wave(...shape: number[]): NDArray {
  const size = shape.reduce((product, d) => product * d, 1);
  return floats(
    Array.from({ length: size }, (_, i) => 2 * Math.sin(1.3 * i + 0.7)),
    shape,
  );
}

const t4 = (x: tf.Tensor): tf.Tensor4D => x as tf.Tensor4D;
const t5 = (x: tf.Tensor): tf.Tensor5D => x as tf.Tensor5D;
const asInt = (x: tf.Tensor) => tf.cast(tf.mul(x, 5), 'int32');
const asBool = (x: tf.Tensor) => tf.greater(x, 0.3);

const SPECIAL = [
  Number.NaN,
  Infinity,
  -Infinity,
  0,
  1e30,
  -1e30,
  1e-20,
  -1e-6,
  3e-4,
  0.5,
  -0.5,
  1.5,
  2.5,
  -1.5,
  -2.5,
  6,
  7,
  -20,
  20,
  1,
  -1,
];

type Unary = (x: tf.Tensor) => tf.Tensor;
const UNARY: Readonly<Record<string, Unary>> = {
  abs: tf.abs,
  acos: tf.acos,
  acosh: tf.acosh,
  asin: tf.asin,
  asinh: tf.asinh,
  atan: tf.atan,
  atanh: tf.atanh,
  ceil: tf.ceil,
  cos: tf.cos,
  cosh: tf.cosh,
  elu: tf.elu,
  erf: tf.erf,
  exp: tf.exp,
  expm1: tf.expm1,
  floor: tf.floor,
  isFinite: tf.isFinite,
  isInf: tf.isInf,
  isNaN: tf.isNaN,
  leakyRelu: (x) => tf.leakyRelu(x, 0.1),
  log: tf.log,
  log1p: tf.log1p,
  neg: tf.neg,
  prelu: (x) => tf.prelu(x, tf.scalar(0.3)),
  reciprocal: tf.reciprocal,
  relu: tf.relu,
  relu6: tf.relu6,
  round: tf.round,
  rsqrt: tf.rsqrt,
  selu: tf.selu,
  sigmoid: tf.sigmoid,
  sign: tf.sign,
  sin: tf.sin,
  sinh: tf.sinh,
  softplus: tf.softplus,
  sqrt: tf.sqrt,
  square: tf.square,
  step: (x) => tf.step(x, 0.25),
  tan: tf.tan,
  tanh: tf.tanh,
  'clip to [-1, 1]': (x) => tf.clipByValue(x, -1, 1),
  'clip from 0': (x) => tf.clipByValue(x, 0, Infinity),
  logSigmoid: tf.logSigmoid,
};

/**
 * sin, cos and tan of huge numbers are rounding alone, sinh and cosh overflow at other places in single precision, and
 * the sign of NaN is NaN when compiled.
 */
function specialFor(name: string): readonly number[] {
  if (/^(sin|cos|tan|sinh|cosh)$/.test(name)) return SPECIAL.filter((x) => !(Math.abs(x) > 1e3));
  return name === 'sign' ? SPECIAL.slice(1) : SPECIAL;
}

/** Every function of one number at the places where implementations differ. */
export const specialCases: readonly CompiledCase[] = Object.entries(UNARY).map(([name, f]) => ({
  name: `${name} of special numbers`,
  f,
  args: [floats(specialFor(name))],
  forwardOnly: true,
}));

/** Near 0 the digits count, not the distance. */
export const smallCases: readonly CompiledCase[] = (['expm1', 'log1p', 'tanh', 'asinh', 'atanh', 'sin'] as const).map(
  (name) => ({
    name: `${name} near 0`,
    f: (x) => tf.div(UNARY[name](x), x),
    args: [floats([1e-8, -1e-7, 3e-6, -2e-5, 1e-4, -3e-3, 0.02, 1e-30])],
    forwardOnly: true,
  }),
);

const DOMAIN: Readonly<Record<string, NDArray>> = {
  acos: floats([-0.9, -0.2, 0.3, 0.8]),
  acosh: floats([1.1, 2, 3.5, 10]),
  asin: floats([-0.9, -0.2, 0.3, 0.8]),
  atanh: floats([-0.9, -0.2, 0.3, 0.8]),
  log: floats([0.1, 1.5, 20]),
  log1p: floats([-0.5, 1e-3, 20]),
  rsqrt: floats([0.1, 1.5, 20]),
  sqrt: floats([0.1, 1.5, 20]),
};
/** These have no gradient in tfjs. */
const WITHOUT_GRADIENT = ['isFinite', 'isInf', 'isNaN'];
const unaryGradients: readonly CompiledCase[] = Object.entries(UNARY)
  .filter(([name]) => !WITHOUT_GRADIENT.includes(name))
  .map(([name, f]) => ({
    name: `${name}, gradient`,
    f,
    args: [DOMAIN[name] ?? floats([-2.3, -0.7, 0.2, 0.9, 3.1, 6.5])],
  }));

const integerCases: readonly CompiledCase[] = [
  ...[
    'abs',
    'clip to [-1, 1]',
    'clip from 0',
    'exp',
    'neg',
    'relu',
    'relu6',
    'round',
    'sign',
    'square',
    'step',
    'isNaN',
    'isFinite',
    'isInf',
  ].map((name) => ({ name: `${name} of int32`, f: UNARY[name], args: [ints([-7, -1, 0, 1, 5, 9])] })),
  ...(
    [
      ['add', tf.add],
      ['sub', tf.sub],
      ['mul', tf.mul],
      ['div', tf.div],
      ['floorDiv', tf.floorDiv],
      ['mod', tf.mod],
      ['maximum', tf.maximum],
      ['minimum', tf.minimum],
      ['squaredDifference', tf.squaredDifference],
      ['pow', (a, b) => tf.pow(a, tf.abs(b))],
      ['greater', tf.greater],
      ['equal', tf.equal],
      ['bitwiseAnd', tf.bitwiseAnd],
    ] as [string, (a: tf.Tensor, b: tf.Tensor) => tf.Tensor][]
  ).flatMap(([name, f]) => [
    { name: `${name} of int32`, f, args: [ints([-7, -7, 7, 7, 6, -6, 0]), ints([3, -3, 3, -3, 3, 3, 3])] },
    {
      name: `${name} of int32 by a constant`,
      f: (a: tf.Tensor) => f(a, tf.fill(a.shape, -3, 'int32')),
      args: [ints([-7, 7, 6, 0])],
    },
  ]),
  { name: 'floorDiv by 0', f: (a, b) => tf.floorDiv(a, b), args: [ints([1, -1, 0, 4]), ints([0, 0, 0, 2])] },
  { name: 'mod by 0', f: (a, b) => tf.mod(a, b), args: [ints([1, -1, 0, 5]), ints([0, 0, 0, 2])] },
  { name: 'large int32', f: (a, b) => tf.add(a, b), args: [ints([2 ** 30, 16_777_217]), ints([1, 0])] },
  {
    name: 'matMul of int32',
    f: (a, b) => tf.matMul(a, b, true, true),
    args: [ints([1, 2, 3, 4, 5, 6], [3, 2]), ints([1, 0, 2, -1, 3, 1], [2, 3])],
  },
  { name: 'int32 and float32', f: (a, b) => tf.mul(a, b), args: [ints([1, -2]), floats([0.5, 0.25])] },
  { name: 'bool and float32', f: (a) => tf.sub(asBool(a), a), args: [wave(5)] },
  { name: 'bool times bool', f: (a, b) => tf.mul(asBool(a), asBool(b)), args: [wave(5), floats([1, -1, 1, -1, 1])] },
  {
    name: 'greater of bools',
    f: (a, b) => tf.greater(asBool(a), asBool(b)),
    args: [wave(5), floats([1, -1, 1, -1, 1])],
  },
  {
    name: 'where of bools',
    f: (a, b) => tf.where(asBool(a), asBool(b), tf.logicalNot(asBool(b))),
    args: [wave(5), wave(5)],
  },
  { name: 'where of int32 and float32', f: (a, b) => tf.where(asBool(b), a, b), args: [ints([4, 5, 6]), wave(3)] },
  {
    name: 'casts',
    f: (a) => tf.cast(tf.cast(tf.cast(a, 'bool'), 'int32'), 'float32'),
    args: [floats([0, 0.2, -3, Number.NaN])],
  },
  { name: 'cast cuts', f: (a) => tf.cast(a, 'int32'), args: [floats([1.9, -1.9, 0.5, -0.5])] },
  {
    name: 'logicalXor',
    f: (a, b) => tf.logicalXor(asBool(a), asBool(b)),
    args: [wave(6), floats([1, -1, 1, -1, 1, -1])],
  },
];
const integers = integerCases.map((example): CompiledCase => ({ ...example, forwardOnly: true }));

const reductionAxes: [string, number | number[] | undefined, boolean][] = [
  ['all', undefined, false],
  ['axis 0', 0, false],
  ['axes 0, 2 kept', [0, 2], true],
  ['no axes', [], false],
];
const reductions: readonly CompiledCase[] = (
  [
    ['sum', tf.sum],
    ['mean', tf.mean],
    ['prod', tf.prod],
    ['max', tf.max],
    ['min', tf.min],
  ] as [string, (x: tf.Tensor, axis?: number | number[], keepDims?: boolean) => tf.Tensor][]
).flatMap(([name, f]) =>
  reductionAxes.flatMap(([where, axis, keep]) => [
    {
      name: `${name} of int32, ${where}`,
      f: (x: tf.Tensor) => f(asInt(x), axis, keep),
      args: [wave(2, 3, 2)],
      forwardOnly: true,
    },
    {
      name: `${name} of bool, ${where}`,
      f: (x: tf.Tensor) => f(asBool(x), axis, keep),
      args: [wave(2, 3, 2)],
      forwardOnly: true,
    },
  ]),
);

const moreReductions: readonly CompiledCase[] = [
  ...[0, 1, [0, 1]].map((axis) => ({
    name: `prod, axes ${axis}`,
    f: (x: tf.Tensor) => tf.prod(x, axis),
    args: [wave(3, 4)],
  })),
  { name: 'max of equals', f: (x) => tf.max(x, 1), args: [floats([1, 1, 0, 2, 2, 2], [2, 3])] },
  { name: 'all', f: (x) => tf.all(asBool(x), [0], true), args: [wave(3, 4)], forwardOnly: true },
  { name: 'any', f: (x) => tf.any(asBool(x)), args: [wave(3, 4)], forwardOnly: true },
  { name: 'moments', f: (x) => tf.add(tf.moments(x, 1).variance, tf.moments(x, 1).mean), args: [wave(3, 4)] },
  { name: 'norm', f: (x) => tf.norm(x, 2, 1), args: [wave(3, 4)] },
  { name: 'logSumExp, kept', f: (x) => tf.logSumExp(x, [0, 2], true), args: [wave(2, 3, 2)] },
  { name: 'argMax, axis 0', f: (x) => tf.argMax(x, 0), args: [wave(3, 4)], forwardOnly: true },
  {
    name: 'argMax of equals',
    f: (x) => tf.argMax(x, 1),
    args: [floats([1, 3, 3, 0, 0, 0], [2, 3])],
    forwardOnly: true,
  },
  { name: 'argMin of int32', f: (x) => tf.argMin(asInt(x), -1), args: [wave(2, 3, 4)], forwardOnly: true },
  { name: 'argMax of bool', f: (x) => tf.argMax(asBool(x), 1), args: [wave(3, 4)], forwardOnly: true },
  {
    name: 'topk, indices',
    f: (x) => tf.topk(x, 3).indices,
    args: [floats([1, 3, 3, 0, 2, 9, 9, 9], [2, 4])],
    forwardOnly: true,
  },
  { name: 'topk of int32', f: (x) => tf.topk(asInt(x), 2).values, args: [wave(2, 2, 4)], forwardOnly: true },
];

const flags = [
  [false, false],
  [true, false],
  [false, true],
  [true, true],
] as const;
const scans: readonly CompiledCase[] = flags.flatMap(([exclusive, reverse]) =>
  [0, 1].flatMap((axis) => {
    const name = `axis ${axis}${exclusive ? ', exclusive' : ''}${reverse ? ', reverse' : ''}`;
    return [
      { name: `cumsum ${name}`, f: (x: tf.Tensor) => tf.cumsum(x, axis, exclusive, reverse), args: [wave(3, 5)] },
      {
        name: `cumprod ${name}`,
        f: (x: tf.Tensor) => tf.cumprod(x, axis, exclusive, reverse),
        args: [wave(3, 5)],
        forwardOnly: true,
      },
    ];
  }),
);
const moreScans: readonly CompiledCase[] = [
  { name: 'cumsum of bool', f: (x) => tf.cumsum(asBool(x), 0), args: [wave(6)], forwardOnly: true },
  { name: 'cumsum of int32', f: (x) => tf.cumsum(asInt(x), 0), args: [wave(6)], forwardOnly: true },
  { name: 'cumprod of one', f: (x) => tf.cumprod(x, 1), args: [wave(3, 1)], forwardOnly: true },
  { name: 'cumprod of int32', f: (x) => tf.cumprod(asInt(x), 0), args: [wave(4)], forwardOnly: true },
];

const lookups: readonly CompiledCase[] = [
  {
    name: 'gather by a matrix',
    f: (x, i) => tf.gather(x, i, 1),
    args: [wave(2, 4, 3), ints([0, 3, 1, 1], [2, 2])],
    forwardOnly: true,
  },
  {
    name: 'gather, batch of 1 axis',
    f: (x, i) => tf.gather(x, i, 1, 1),
    args: [wave(2, 4, 3), ints([0, 3, 1, 1, 2, 0], [2, 3])],
    forwardOnly: true,
  },
  {
    name: 'gather, batch before the axis',
    f: (x, i) => tf.gather(x, i, 2, 1),
    args: [wave(2, 3, 4, 2), ints([0, 3, 1, 1], [2, 2])],
    forwardOnly: true,
  },
  {
    name: 'gather, batch of 2 axes',
    f: (x, i) => tf.gather(x, i, 2, 2),
    args: [wave(2, 2, 3), ints([0, 2, 1, 1], [2, 2, 1])],
    forwardOnly: true,
  },
  { name: 'gather of bool', f: (x, i) => tf.gather(asBool(x), i), args: [wave(4), ints([3, 0])], forwardOnly: true },
  {
    name: 'gatherND',
    f: (x, i) => tf.gatherND(x, i),
    args: [wave(3, 4, 2), ints([0, 1, 2, 3], [2, 2])],
    forwardOnly: true,
  },
  {
    name: 'scatterND adds',
    f: (i, x) => tf.scatterND(i, x, [4, 2]),
    args: [ints([1, 3, 1], [3, 1]), wave(3, 2)],
    forwardOnly: true,
  },
  {
    name: 'scatterND by two indices',
    f: (i, x) => tf.scatterND(i, x, [3, 4]),
    args: [ints([0, 1, 2, 3, 0, 1], [3, 2]), wave(3)],
    forwardOnly: true,
  },
  {
    name: 'tensorScatterUpdate of numbers',
    f: (x, i, y) => tf.tensorScatterUpdate(x, i, y),
    args: [wave(5), ints([3, 0], [2, 1]), wave(2)],
    forwardOnly: true,
  },
  {
    name: 'tensorScatterUpdate of rows',
    f: (x, i, y) => tf.tensorScatterUpdate(x, i, y),
    args: [wave(4, 2), ints([3, 1], [2, 1]), wave(2, 2)],
    forwardOnly: true,
  },
  { name: 'oneHot, own values', f: (i) => tf.oneHot(i, 3, 5, -1), args: [ints([0, 2, -1, 3])], forwardOnly: true },
  {
    name: 'oneHot bool',
    f: (i) => tf.oneHot(i, 3, 1, 0, 'bool'),
    args: [ints([0, 2, 1, 1], [2, 2])],
    forwardOnly: true,
  },
  {
    name: 'segments, few',
    f: (x) => tf.unsortedSegmentSum(x, tf.tensor1d([2, 0, -1, 2, 1], 'int32'), 3),
    args: [wave(5, 2)],
  },
  {
    name: 'segments, many',
    f: (x) => tf.slice(tf.unsortedSegmentSum(x, tf.tensor1d([600, 0, -1, 600, 599], 'int32'), 601), [598, 0], [3, 2]),
    args: [wave(5, 2)],
  },
  {
    name: 'segments, ids given and some too large',
    f: (x, ids) => tf.unsortedSegmentSum(x, ids as tf.Tensor1D, 3),
    args: [wave(5, 2), ints([2, 0, -1, 2, 7])],
    forwardOnly: true,
  },
  {
    name: 'segments, many, some ids too large',
    f: (x, ids) => tf.unsortedSegmentSum(x, ids as tf.Tensor1D, 600),
    args: [wave(5, 2), ints([599, 0, -1, 599, 601])],
    forwardOnly: true,
  },
  {
    name: 'embedding of 2 axes',
    f: (x) =>
      tf.gather(
        x,
        tf.tensor2d(
          [
            [0, 2],
            [2, 1],
          ],
          [2, 2],
          'int32',
        ),
      ),
    args: [wave(3, 2)],
  },
  { name: 'embedding along axis 1', f: (x) => tf.gather(x, tf.tensor1d([0, 2, 2], 'int32'), 1), args: [wave(2, 3, 2)] },
];

const movement: readonly CompiledCase[] = [
  {
    name: 'pad with a number',
    f: (x) =>
      tf.pad(
        x,
        [
          [1, 0],
          [0, 2],
        ],
        -3,
      ),
    args: [wave(2, 3)],
  },
  { name: 'pad of int32', f: (x) => tf.pad(asInt(x), [[2, 1]], 7), args: [wave(3)], forwardOnly: true },
  { name: 'pad of bool', f: (x) => tf.pad(asBool(x), [[2, 1]]), args: [wave(3)], forwardOnly: true },
  {
    name: 'mirrorPad reflect',
    f: (x) =>
      tf.mirrorPad(
        x,
        [
          [1, 2],
          [2, 0],
        ],
        'reflect',
      ),
    args: [wave(3, 4)],
    forwardOnly: true,
  },
  {
    name: 'mirrorPad symmetric',
    f: (x) =>
      tf.mirrorPad(
        x,
        [
          [1, 2],
          [2, 0],
        ],
        'symmetric',
      ),
    args: [wave(3, 4)],
    forwardOnly: true,
  },
  { name: 'reverse all', f: (x) => tf.reverse(x), args: [wave(2, 3)] },
  {
    name: 'reverse axes 0, -1 of bool',
    f: (x) => tf.reverse(asBool(x), [0, -1]),
    args: [wave(2, 2, 3)],
    forwardOnly: true,
  },
  {
    name: 'stridedSlice down to the first',
    f: (x) => tf.stridedSlice(x, [3, 4], [0, 0], [-1, -2], 0, 3),
    args: [wave(4, 5)],
    forwardOnly: true,
  },
  {
    name: 'stridedSlice with masks',
    f: (x) => tf.stridedSlice(x, [1, 1], [2, 3], [1, 1], 0, 0, 0, 0, 1),
    args: [wave(3, 4)],
    forwardOnly: true,
  },
  { name: 'stridedSlice of rows', f: (x) => tf.stridedSlice(x, [1], [3]), args: [wave(4, 2)], forwardOnly: true },
  { name: 'tile of bool', f: (x) => tf.tile(asBool(x), [2, 1, 2]), args: [wave(2, 1, 2)], forwardOnly: true },
  { name: 'transpose of bool', f: (x) => tf.transpose(asBool(x)), args: [wave(2, 3)], forwardOnly: true },
  { name: 'concat of dtypes', f: (x) => tf.concat([asInt(x), asInt(x)]), args: [wave(2)], forwardOnly: true },
  { name: 'addN', f: (x, y) => tf.addN([x, y, x]), args: [wave(2, 3), wave(2, 3)] },
  { name: 'stack, axis -1', f: (x, y) => tf.stack([x, y], -1), args: [wave(2, 3), wave(2, 3)] },
  { name: 'unstack, axis -1', f: (x) => tf.unstack(x, -1)[1], args: [wave(2, 3)] },
  {
    name: 'spaceToBatchND',
    f: (x) =>
      tf.spaceToBatchND(
        x,
        [2, 2],
        [
          [0, 1],
          [1, 0],
        ],
      ),
    args: [wave(1, 3, 5, 2)],
  },
  {
    name: 'batchToSpaceND',
    f: (x) =>
      tf.batchToSpaceND(
        x,
        [2, 2],
        [
          [0, 1],
          [1, 0],
        ],
      ),
    args: [wave(4, 2, 3, 2)],
  },
  { name: 'depthToSpace', f: (x) => tf.depthToSpace(t4(x), 2), args: [wave(1, 2, 3, 8)], forwardOnly: true },
  { name: 'linspace', f: (x) => tf.mul(x, tf.linspace(-1, 2, 5)), args: [wave(5)] },
  { name: 'range down', f: (x) => tf.mul(x, tf.range(3, 0)), args: [wave(3)] },
  { name: 'range by steps', f: (x) => tf.mul(x, tf.range(0, 1, 0.3)), args: [wave(4)] },
  {
    name: 'range of int32',
    f: (x) => tf.add(asInt(x), tf.range(6, 0, -2, 'int32')),
    args: [wave(3)],
    forwardOnly: true,
  },
  { name: 'eye', f: (x) => tf.matMul(x, tf.eye(3)), args: [wave(2, 3)] },
];

const scalars: readonly CompiledCase[] = [
  { name: 'scalar functions', f: (x) => tf.add(tf.exp(x), tf.square(x)), args: [floats([0.3], [])] },
  { name: 'scalar reductions', f: (x) => tf.add(tf.sum(x), tf.max(x)), args: [floats([0.3], [])] },
  { name: 'scalar where', f: (x) => tf.where(tf.greater(x, 0), x, tf.neg(x)), args: [floats([-0.3], [])] },
  { name: 'scalar reshape, tile', f: (x) => tf.tile(tf.reshape(x, [1]), [3]), args: [floats([0.3], [])] },
  { name: 'scalar stack, unstack', f: (x) => tf.unstack(tf.stack([x, tf.mul(x, 2)]))[1], args: [floats([0.3], [])] },
  {
    name: 'scalar oneHot',
    f: (x) => tf.reshape(tf.oneHot(tf.reshape(x, [1]), 3), [3]),
    args: [ints([1], [])],
    forwardOnly: true,
  },
];

const empties: readonly CompiledCase[] = [
  { name: 'empty, elementwise', f: (x) => tf.add(tf.exp(x), 1), args: [floats([], [0, 3])], forwardOnly: true },
  { name: 'empty sum', f: (x) => tf.sum(x, 0), args: [floats([], [0, 3])], forwardOnly: true },
  { name: 'empty mean, all', f: (x) => tf.sum(x), args: [floats([], [0, 3])], forwardOnly: true },
  {
    name: 'empty concat',
    f: (x, y) => tf.concat([x, y], 0),
    args: [floats([], [0, 3]), wave(2, 3)],
    forwardOnly: true,
  },
  {
    name: 'empty inner size',
    f: (x, y) => tf.matMul(x, y),
    args: [floats([], [2, 0]), floats([], [0, 3])],
    forwardOnly: true,
  },
  {
    name: 'empty rows times a matrix',
    f: (x, y) => tf.matMul(x, y),
    args: [floats([], [0, 2]), wave(2, 3)],
    forwardOnly: true,
  },
  { name: 'empty slice', f: (x) => tf.slice(x, [1, 0], [0, 2]), args: [wave(2, 3)], forwardOnly: true },
  { name: 'empty gather', f: (x, i) => tf.gather(x, i), args: [wave(2, 3), ints([])], forwardOnly: true },
  {
    name: 'empty pad',
    f: (x) =>
      tf.pad(
        x,
        [
          [1, 1],
          [0, 0],
        ],
        2,
      ),
    args: [floats([], [0, 3])],
    forwardOnly: true,
  },
  { name: 'empty part of a split', f: (x) => tf.split(x, [2, 0, 1])[2], args: [wave(3, 2)], forwardOnly: true },
];

const pools: readonly CompiledCase[] = [
  ...(['valid', 'same', 1] as const).flatMap((pad) =>
    [
      [2, 2],
      [3, 2],
      [2, 3],
      [3, 1],
    ].flatMap(([size, stride]) => [
      {
        name: `maxPool ${size} by ${stride} ${pad}`,
        f: (x: tf.Tensor) => tf.maxPool(t4(x), size, stride, pad),
        args: [wave(2, 5, 6, 2)],
      },
      {
        name: `avgPool ${size} by ${stride} ${pad}`,
        f: (x: tf.Tensor) => tf.avgPool(t4(x), size, stride, pad),
        args: [wave(2, 5, 6, 2)],
      },
    ]),
  ),
  {
    name: 'maxPool of equals',
    f: (x) => tf.maxPool(t4(tf.relu(x)), 2, 2, 'valid'),
    args: [
      floats(
        Array.from({ length: 32 }, (_, i) => Math.sin(i) - 0.7),
        [1, 4, 4, 2],
      ),
    ],
  },
  {
    name: 'maxPool of equals that overlap',
    f: (x) => tf.maxPool(t4(tf.relu(x)), 3, 1, 'same'),
    args: [
      floats(
        Array.from({ length: 32 }, (_, i) => Math.sin(i) - 0.7),
        [1, 4, 4, 2],
      ),
    ],
  },
  {
    name: 'avgPool rounding up',
    f: (x) => tf.avgPool(t4(x), 3, 2, 1, 'ceil'),
    args: [wave(1, 4, 6, 1)],
    forwardOnly: true,
  },
  { name: 'maxPool 3-d image', f: (x) => tf.maxPool(x as tf.Tensor3D, 2, 2, 'same'), args: [wave(3, 4, 2)] },
  { name: 'maxPool3d overlapping', f: (x) => tf.maxPool3d(t5(x), 2, 1, 'valid'), args: [wave(1, 3, 3, 4, 2)] },
  { name: 'avgPool3d tiles', f: (x) => tf.avgPool3d(t5(x), 2, 2, 'same'), args: [wave(1, 3, 4, 5, 2)] },
  { name: 'pool with dilations', f: (x) => tf.pool(t4(x), 2, 'max', 'same', 2), args: [wave(1, 5, 4, 1)] },
];

const images: readonly CompiledCase[] = [false, true].flatMap((alignCorners) =>
  [
    [6, 4],
    [2, 7],
    [1, 1],
  ].flatMap((size) => [
    {
      name: `resizeBilinear to ${size}${alignCorners ? ', corners' : ''}`,
      f: (x: tf.Tensor) => tf.image.resizeBilinear(t4(x), size as [number, number], alignCorners),
      args: [wave(2, 3, 3, 2)],
    },
    {
      name: `resizeNearest to ${size}${alignCorners ? ', corners' : ''}`,
      f: (x: tf.Tensor) => tf.image.resizeNearestNeighbor(t4(x), size as [number, number], alignCorners),
      args: [wave(1, 3, 4, 2)],
    },
  ]),
);
const moreImages: readonly CompiledCase[] = [
  {
    name: 'resizeBilinear, half pixels',
    f: (x) => tf.image.resizeBilinear(t4(x), [5, 2], false, true),
    args: [wave(1, 3, 4, 2)],
    forwardOnly: true,
  },
  {
    name: 'resizeNearest, half pixels',
    f: (x) => tf.image.resizeNearestNeighbor(t4(x), [5, 2], false, true),
    args: [wave(1, 3, 4, 2)],
    forwardOnly: true,
  },
];

const compositions: readonly CompiledCase[] = [
  {
    name: 'batchNorm',
    f: (x, m, v, o, s) =>
      tf.batchNorm(
        x as tf.Tensor2D,
        m as tf.Tensor1D,
        tf.square(v) as tf.Tensor1D,
        o as tf.Tensor1D,
        s as tf.Tensor1D,
        0.01,
      ),
    args: [wave(4, 3), wave(3), floats([0.5, 1.1, 2]), wave(3), floats([1, 0.4, -2])],
  },
  {
    name: 'batchNorm without scale',
    f: (x, m, v) => tf.batchNorm(x as tf.Tensor2D, m as tf.Tensor1D, v as tf.Tensor1D),
    forwardOnly: true,
    args: [wave(4, 3), wave(3), floats([0.5, 1.1, 2])],
  },
  { name: 'prelu per column', f: (x, a) => tf.prelu(x, a), args: [wave(4, 3), floats([0.1, 0.2, -0.3])] },
  { name: 'prelu by wider slopes', f: (x, a) => tf.prelu(x, a), forwardOnly: true, args: [wave(3), wave(4, 3)] },
  {
    name: 'atan2',
    f: (a, b) => tf.atan2(a, b),
    args: [floats([1, 1, -1, -1, 2, -2, 0, 0.3]), floats([1, -1, 1, -1, 0, 0, -1, 4])],
  },
  { name: 'atan2 broadcast', f: (a, b) => tf.atan2(a, b), args: [wave(3, 1), wave(2)] },
  {
    name: 'mod of floats',
    f: (a, b) => tf.mod(a, b),
    args: [floats([5.3, -5.3, 5.3, -5.3, 6]), floats([2, 2, -2, -2, 3])],
  },
  {
    name: 'floorDiv of floats',
    f: (a, b) => tf.floorDiv(a, b),
    args: [floats([5.3, -5.3, 5.3, -5.3, 6]), floats([2, 2, -2, -2, 3])],
    forwardOnly: true,
  },
  { name: 'pow of negatives', f: (x) => tf.pow(x, 3), args: [floats([-2, -0.5, 0.5, 2])] },
  {
    name: 'pow special',
    f: (a, b) => tf.pow(a, b),
    args: [floats([-8, -2, 0, 4, 2, 0]), floats([1 / 3, 2, 0, 0.5, -1, 3])],
    forwardOnly: true,
  },
  {
    name: 'maximum with NaN',
    f: (a, b) => tf.maximum(a, b),
    args: [floats([Number.NaN, 1, -Infinity]), floats([0, Number.NaN, 1])],
    forwardOnly: true,
  },
  {
    name: 'minimum with NaN',
    f: (a, b) => tf.minimum(a, b),
    args: [floats([Number.NaN, 1, -Infinity]), floats([0, Number.NaN, 1])],
    forwardOnly: true,
  },
  {
    name: 'where rows',
    f: (x, y) => tf.where(tf.tensor2d([[1], [0], [1]], [3, 1], 'bool'), x, y),
    args: [wave(3, 2), wave(3, 2)],
  },
  {
    name: 'einsum of a batch',
    f: (a, b) => tf.einsum('bij,bjk->bik', a, b),
    args: [wave(2, 3, 4), wave(2, 4, 2)],
    forwardOnly: true,
  },
  {
    name: 'einsum trace of a product',
    f: (a, b) => tf.einsum('ij,ji->', a, b),
    args: [wave(3, 2), wave(2, 3)],
    forwardOnly: true,
  },
  { name: 'einsum of one', f: (a) => tf.einsum('ij->ji', a), args: [wave(3, 2)], forwardOnly: true },
  { name: 'einsum outer', f: (a, b) => tf.einsum('i,j->ij', a, b), args: [wave(3), wave(2)], forwardOnly: true },
  { name: 'huber loss', f: (a, b) => tf.losses.huberLoss(a, b), args: [wave(4), floats([1, 2, 3, 4])] },
  {
    name: 'softmax cross entropy',
    f: (x) =>
      tf.losses.softmaxCrossEntropy(
        tf.tensor2d([
          [1, 0, 0],
          [0, 0.5, 0.5],
        ]),
        x,
      ),
    args: [wave(2, 3)],
  },
  {
    name: 'sigmoid cross entropy',
    f: (x) =>
      tf.losses.sigmoidCrossEntropy(
        tf.tensor2d([
          [1, 0, 0],
          [0, 1, 1],
        ]),
        x,
      ),
    args: [wave(2, 3)],
  },
  { name: 'softmax, 3-d', f: (x) => tf.softmax(x), args: [wave(2, 2, 3)] },
  { name: 'softmax, large logits', f: (x) => tf.logSoftmax(x), args: [floats([1000, 0, -1000, -1e9, 2, 1], [2, 3])] },
  {
    name: 'dropout by given noise',
    f: (x, noise) => tf.div(tf.mul(x, tf.cast(tf.less(noise, 0.8), 'float32')), 0.8),
    args: [wave(2, 3), floats([0.1, 0.9, 0.5, 0.85, 0.2, 0.7], [2, 3])],
  },
  { name: 'uint8 input', f: (x) => tf.mul(x, 0.5), args: [ndarray(Uint8Array.of(0, 1, 255), [3])], forwardOnly: true },
  {
    name: 'fused matMul with prelu',
    f: (a, b, s) =>
      tf.fused.matMul({ a: a as tf.Tensor2D, b: b as tf.Tensor2D, activation: 'prelu', preluActivationWeights: s }),
    args: [wave(3, 2), wave(2, 4), floats([0.1, 0.2, 0.3, 0.4])],
    forwardOnly: true,
  },
  {
    name: 'fused matMul with leaky relu',
    f: (a, b) =>
      tf.fused.matMul({ a: a as tf.Tensor2D, b: b as tf.Tensor2D, activation: 'leakyrelu', leakyreluAlpha: 0.3 }),
    args: [wave(3, 2), wave(2, 4)],
    forwardOnly: true,
  },
  {
    name: 'fused matMul with relu6',
    f: (a, b) => tf.fused.matMul({ a: a as tf.Tensor2D, b: b as tf.Tensor2D, activation: 'relu6' }),
    args: [wave(3, 2), wave(2, 4)],
  },
  { name: 'second derivative', f: (x) => tf.grad((y: tf.Tensor) => tf.sum(tf.tanh(tf.square(y))))(x), args: [wave(4)] },
];

/** What the table of all backends leaves out. */
export const compiledCases: readonly CompiledCase[] = [
  ...unaryGradients,
  ...integers,
  ...reductions,
  ...moreReductions,
  ...scans,
  ...moreScans,
  ...lookups,
  ...movement,
  ...scalars,
  ...empties,
  ...pools,
  ...images,
  ...moreImages,
  ...compositions,
];
