import { tf } from '@coplay/tensor';
import { DTYPES, type Dtype, input, type Kind, SHAPES, type WasmCase } from './inputs';

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
  clone: tf.clone,
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
  logicalNot: tf.logicalNot,
  logSigmoid: tf.logSigmoid,
  neg: tf.neg,
  onesLike: tf.onesLike,
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
  step: (x) => tf.step(x),
  'step to 0.25': (x) => tf.step(x, 0.25),
  tan: tf.tan,
  tanh: tf.tanh,
  zerosLike: tf.zerosLike,
  'clip to [-1, 1]': (x) => tf.clipByValue(x, -1, 1),
  'clip to [-2.5, 0.5]': (x) => tf.clipByValue(x, -2.5, 0.5),
  'clip from 0': (x) => tf.clipByValue(x, 0, Infinity),
  'clip to a point': (x) => tf.clipByValue(x, 2, 2),
  'cast to float32': (x) => tf.cast(x, 'float32'),
  'cast to int32': (x) => tf.cast(x, 'int32'),
  'cast to bool': (x) => tf.cast(x, 'bool'),
};

type Binary = (a: tf.Tensor, b: tf.Tensor) => tf.Tensor;
const BINARY: Readonly<Record<string, Binary>> = {
  add: tf.add,
  atan2: tf.atan2,
  div: tf.div,
  divNoNan: tf.divNoNan,
  equal: tf.equal,
  floorDiv: tf.floorDiv,
  greater: tf.greater,
  greaterEqual: tf.greaterEqual,
  less: tf.less,
  lessEqual: tf.lessEqual,
  maximum: tf.maximum,
  minimum: tf.minimum,
  mod: tf.mod,
  mul: tf.mul,
  notEqual: tf.notEqual,
  pow: tf.pow,
  prelu: tf.prelu,
  squaredDifference: tf.squaredDifference,
  sub: tf.sub,
  bitwiseAnd: tf.bitwiseAnd,
  logicalAnd: tf.logicalAnd,
  logicalOr: tf.logicalOr,
  logicalXor: tf.logicalXor,
};

/** Ranks that are broadcast to each other, from both sides and in the middle. */
const PAIRS: readonly (readonly (readonly number[])[])[] = [
  [[], []],
  [[7], []],
  [[], [2, 3]],
  [[0], [0]],
  [[0, 3], [3]],
  [[1], [0]],
  [[37], [37]],
  [
    [3, 4],
    [3, 4],
  ],
  [[3, 1], [4]],
  [
    [3, 1],
    [1, 4],
  ],
  [
    [1, 4],
    [3, 4],
  ],
  [
    [2, 3, 1, 2],
    [3, 4, 1],
  ],
  [
    [2, 1, 2, 1, 3],
    [1, 2, 1, 3, 1],
  ],
  [
    [2, 1, 2, 1, 2, 1],
    [1, 2, 1, 2, 1, 3],
  ],
];

const kinds = (dtype: Dtype): readonly Kind[] => (dtype === 'bool' ? ['plain'] : ['plain', 'hard']);
const large = [40, 71]; // more than the size at which kernels of ours take other ways

const unary: readonly WasmCase[] = Object.entries(UNARY).flatMap(([name, f]) =>
  DTYPES.flatMap((dtype) =>
    kinds(dtype).flatMap((kind) =>
      [...SHAPES, large].map((shape, i) => ({
        name: `${name} of ${dtype} [${shape}], ${kind}`,
        f,
        inputs: [input(shape, dtype, 100 + i, kind)],
      })),
    ),
  ),
);

const binary: readonly WasmCase[] = Object.entries(BINARY).flatMap(([name, f]) =>
  DTYPES.flatMap((dtype) =>
    kinds(dtype).flatMap((kind) =>
      PAIRS.map(([a, b], i) => ({
        name: `${name} of ${dtype} [${a}] [${b}], ${kind}`,
        f,
        inputs: [input(a!, dtype, 200 + i, kind), input(b!, dtype, 300 + i, kind)],
      })),
    ),
  ),
);

/** Small numbers: cpu computes with whole ones of more digits than a float32 has. */
const mixed: readonly WasmCase[] = Object.entries(BINARY).flatMap(([name, f]) =>
  DTYPES.flatMap((first) =>
    DTYPES.filter((second) => second !== first).map((second) => ({
      name: `${name} of ${first} and ${second}`,
      f,
      inputs: [input([3, 4], first, 5), input([4], second, 6)],
    })),
  ),
);

const selects: readonly WasmCase[] = DTYPES.flatMap((dtype) =>
  (
    [
      [[], [], []],
      [[0], [0], [0]],
      [[7], [7], [7]],
      [
        [3, 4],
        [3, 4],
        [3, 4],
      ],
      [[3, 1], [4], []],
      [[2], [2, 3], [2, 3]],
      [
        [2, 1, 1, 1, 1, 2],
        [1, 2, 1, 2, 1, 1],
        [1, 1, 2, 1, 2, 1],
      ],
    ] as number[][][]
  ).map(([condition, a, b], i) => ({
    name: `where of ${dtype} [${condition}] [${a}] [${b}]`,
    f: (...x: tf.Tensor[]) => tf.where(x[0]!, x[1]!, x[2]!),
    inputs: [input(condition!, 'bool', 10 + i), input(a!, dtype, 20 + i, 'hard'), input(b!, dtype, 30 + i, 'hard')],
  })),
);

const sums: readonly WasmCase[] = DTYPES.flatMap((dtype) =>
  [[], [0], [5], [2, 3]].map((shape) => ({
    name: `addN of ${dtype} [${shape}]`,
    f: (...x: tf.Tensor[]) => tf.addN(x),
    inputs: [1, 2, 3].map((seed) => input(shape, dtype, seed, 'hard')),
  })),
);

/** Functions of one number, of two, and choices. */
export const elementwiseCases: readonly WasmCase[] = [...unary, ...binary, ...mixed, ...selects, ...sums];
