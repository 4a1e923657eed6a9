import { createGenerator } from '@coplay/core';
import { type BackendName, stopGradient, tf } from '@coplay/tensor';

/** A function of tensors that is checked on every backend, forward and backward. */
export interface KernelCase {
  readonly name: string;
  /**
   * Shapes of the arguments. Their values are distinct, at least 0.02 apart, and of both signs unless `values` says
   * otherwise.
   */
  readonly shapes: readonly (readonly number[])[];
  readonly f: (...x: tf.Tensor[]) => tf.Tensor;
  /** `positive` in (0, 3], `negative` in [-3, 0), `unit` in (-1, 1) */
  readonly values?: 'positive' | 'negative' | 'unit';
  /** Has no gradient: forward only. */
  readonly forwardOnly?: boolean;
  /** Backends that refuse it, with an error that says so. */
  readonly refusedBy?: readonly BackendName[];
}

/**
 * Distinct values on a grid, in an order drawn from `seed`; the grid avoids 0, 1 and -1, where functions have kinks.
 */
export function gridValues(size: number, seed: number, values: KernelCase['values']): Float32Array {
  const order = createGenerator(seed).shuffle(Int32Array.from({ length: size }, (_, i) => i));
  const [low, high] = { positive: [0.1, 3], negative: [-3, -0.1], unit: [-0.9, 0.9], any: [-2.5, 2.5] }[
    values ?? 'any'
  ];
  return Float32Array.from(order, (rank) => low + ((rank + 0.37) / size) * (high - low));
}

const t4 = (x: tf.Tensor): tf.Tensor4D => x as tf.Tensor4D;
const t5 = (x: tf.Tensor): tf.Tensor5D => x as tf.Tensor5D;

const unary: KernelCase[] = (
  [
    ['neg', tf.neg],
    ['exp', tf.exp],
    ['expm1', tf.expm1],
    ['square', tf.square],
    ['abs', tf.abs],
    ['tanh', tf.tanh],
    ['sigmoid', tf.sigmoid],
    ['relu', tf.relu],
    ['relu6', tf.relu6],
    ['elu', tf.elu],
    ['selu', tf.selu],
    ['leakyRelu', (x) => tf.leakyRelu(x, 0.2)],
    ['softplus', tf.softplus],
    ['sin', tf.sin],
    ['cos', tf.cos],
    ['erf', tf.erf],
    ['sign', tf.sign],
    ['step', (x) => tf.step(x)],
    ['floor', (x) => tf.floor(tf.mul(x, 0.37))],
    ['clipByValue', (x) => tf.clipByValue(x, -1.01, 1.02)],
    ['clone', (x) => tf.clone(x)],
    ['softmax', (x) => tf.softmax(x as tf.Tensor2D)],
    ['logSoftmax', (x) => tf.logSoftmax(x as tf.Tensor2D)],
    ['logSumExp', (x) => tf.logSumExp(x, 1)],
    ['cumsum', (x) => tf.cumsum(x, 1)],
    ['reverse', (x) => tf.reverse(x, 1)],
  ] as [string, (x: tf.Tensor) => tf.Tensor][]
).map(([name, f]) => ({ name, f, shapes: [[3, 5]] }));

const unaryPositive: KernelCase[] = (
  [
    ['log', tf.log],
    ['log1p', tf.log1p],
    ['sqrt', tf.sqrt],
    ['rsqrt', tf.rsqrt],
    ['reciprocal', tf.reciprocal],
    ['pow 2.5', (x) => tf.pow(x, 2.5)],
  ] as [string, (x: tf.Tensor) => tf.Tensor][]
).map(([name, f]) => ({ name, f, shapes: [[3, 5]], values: 'positive' }));

const binaryShapes = [
  [
    [3, 4],
    [3, 4],
  ],
  [[3, 4], [4]],
  [[3, 1], [4]],
  [[2, 3, 4], []],
];
const binary: KernelCase[] = (
  [
    ['add', tf.add],
    ['sub', tf.sub],
    ['mul', tf.mul],
    ['maximum', tf.maximum],
    ['minimum', tf.minimum],
    ['squaredDifference', tf.squaredDifference],
    ['div', (a, b) => tf.div(a, tf.add(b, 3.1))],
    ['pow', (a, b) => tf.pow(tf.add(a, 3.1), b)],
    ['where greater', (a, b) => tf.where(tf.greater(a, b), tf.mul(a, 2), tf.mul(b, a))],
    ['where or', (a, b) => tf.where(tf.logicalOr(tf.less(a, b), tf.logicalNot(tf.lessEqual(a, 0))), a, tf.add(a, b))],
    ['where and', (a, b) => tf.where(tf.logicalAnd(tf.notEqual(a, b), tf.greaterEqual(a, b)), a, tf.add(a, b))],
    ['mask equal', (a, b) => tf.mul(tf.add(a, b), tf.cast(tf.equal(a, b), 'float32'))],
  ] as [string, (a: tf.Tensor, b: tf.Tensor) => tf.Tensor][]
).flatMap(([name, f]) => binaryShapes.map((shapes) => ({ name: `${name} [${shapes.join('] [')}]`, f, shapes })));

const reductions: KernelCase[] = (
  [
    ['sum', tf.sum],
    ['mean', tf.mean],
    ['max', tf.max],
    ['min', tf.min],
  ] as [string, (x: tf.Tensor, axis?: number | number[], keepDims?: boolean) => tf.Tensor][]
).flatMap(([name, f]) => [
  { name: `${name} all`, shapes: [[2, 3, 4]], f: (x: tf.Tensor) => f(x) },
  { name: `${name} axis 0`, shapes: [[2, 3, 4]], f: (x: tf.Tensor) => f(x, 0) },
  { name: `${name} axis 1`, shapes: [[2, 3, 4]], f: (x: tf.Tensor) => f(x, 1) },
  { name: `${name} axes 0, 1 kept`, shapes: [[2, 3, 4]], f: (x: tf.Tensor) => f(x, [0, 1], true) },
  { name: `${name} axes -1`, shapes: [[2, 3, 4]], f: (x: tf.Tensor) => f(x, -1) },
  { name: `${name} negative`, shapes: [[3, 4]], f: (x: tf.Tensor) => f(x, 0), values: 'negative' as const },
]);

const products: KernelCase[] = [false, true].flatMap((transposeA) =>
  [false, true].flatMap((transposeB) =>
    [[], [3], [2, 2]].map((batch) => ({
      name: `matMul ${transposeA ? 'T' : 'N'}${transposeB ? 'T' : 'N'} batch [${batch}]`,
      shapes: [
        [...batch, ...(transposeA ? [4, 2] : [2, 4])],
        [...batch, ...(transposeB ? [3, 4] : [4, 3])],
      ],
      f: (a: tf.Tensor, b: tf.Tensor) => tf.matMul(a, b, transposeA, transposeB),
    })),
  ),
);

const broadcastProducts: KernelCase[] = [
  {
    name: 'matMul, one matrix for a batch',
    shapes: [
      [3, 2, 4],
      [4, 3],
    ],
    f: (a, b) => tf.matMul(a, b),
  },
  {
    name: 'matMul T, one matrix for a batch',
    shapes: [
      [3, 4, 2],
      [3, 4],
    ],
    f: (a, b) => tf.matMul(a, b, true, true),
  },
  {
    name: 'matMul, a batch for one matrix',
    shapes: [
      [2, 4],
      [3, 4, 3],
    ],
    f: (a, b) => tf.matMul(a, b),
  },
];

/** What layers of tfjs-layers call. */
const fused: KernelCase[] = (['linear', 'relu', 'elu', 'sigmoid'] as const).flatMap((activation) => [
  {
    name: `fused matMul ${activation}`,
    shapes: [[3, 4], [4, 2], [2]],
    f: (a: tf.Tensor, b: tf.Tensor, bias: tf.Tensor) =>
      tf.fused.matMul({ a: a as tf.Tensor2D, b: b as tf.Tensor2D, bias, activation }),
  },
  {
    name: `fused matMul ${activation}, transposed, bias out of a reshape`,
    shapes: [
      [4, 3],
      [2, 4],
      [1, 2],
    ],
    f: (a: tf.Tensor, b: tf.Tensor, bias: tf.Tensor) =>
      tf.fused.matMul({
        a: a as tf.Tensor2D,
        b: b as tf.Tensor2D,
        bias: tf.reshape(bias, [2]),
        transposeA: true,
        transposeB: true,
        activation,
      }),
  },
]);

const movement: KernelCase[] = [
  { name: 'reshape', shapes: [[2, 6]], f: (x) => tf.reshape(x, [3, 4]) },
  { name: 'expandDims, squeeze', shapes: [[2, 3]], f: (x) => tf.squeeze(tf.expandDims(x, 1)) },
  {
    name: 'cast to int32 and back',
    shapes: [[2, 3]],
    f: (x) => tf.cast(tf.cast(x, 'int32'), 'float32'),
    forwardOnly: true,
  },
  { name: 'cast to bool', shapes: [[2, 3]], f: (x) => tf.cast(tf.relu(tf.mul(x, 0.1)), 'bool'), forwardOnly: true },
  { name: 'transpose 2-d', shapes: [[3, 5]], f: (x) => tf.transpose(x) },
  { name: 'transpose last two', shapes: [[2, 3, 5]], f: (x) => tf.transpose(x, [0, 2, 1]) },
  { name: 'transpose large', shapes: [[17, 33]], f: (x) => tf.transpose(x), forwardOnly: true },
  { name: 'transpose 4-d', shapes: [[2, 3, 2, 2]], f: (x) => tf.transpose(x, [3, 1, 0, 2]) },
  {
    name: 'concat axis 0',
    shapes: [
      [2, 3],
      [1, 3],
    ],
    f: (a, b) => tf.concat([a, b], 0),
  },
  {
    name: 'concat axis 1',
    shapes: [
      [2, 3],
      [2, 2],
    ],
    f: (a, b) => tf.concat([a, b], 1),
  },
  { name: 'split', shapes: [[2, 6]], f: (x) => tf.add(tf.split(x, [2, 1, 3], 1)[0], tf.split(x, 3, 1)[1]) },
  { name: 'split axis 0', shapes: [[5, 2]], f: (x) => tf.split(x, [2, 3], 0)[1] },
  {
    name: 'stack',
    shapes: [
      [2, 3],
      [2, 3],
    ],
    f: (a, b) => tf.stack([a, b], 1),
  },
  { name: 'unstack', shapes: [[2, 3]], f: (x) => tf.mul(tf.unstack(x, 1)[0], tf.unstack(x, 1)[2]) },
  { name: 'slice 1-d', shapes: [[7]], f: (x) => tf.slice(x, [2], [3]) },
  { name: 'slice 2-d', shapes: [[4, 5]], f: (x) => tf.slice(x, [1, 2], [2, 2]) },
  { name: 'slice rows', shapes: [[4, 5]], f: (x) => tf.slice(x, [1, 0], [2, 5]) },
  { name: 'slice 4-d', shapes: [[2, 3, 3, 2]], f: (x) => tf.slice(x, [0, 1, 1, 0], [2, 1, 2, 2]) },
  { name: 'slice 5-d', shapes: [[2, 2, 2, 2, 2]], f: (x) => tf.slice(x, [1, 0, 1, 0, 1], [1, 2, 1, 2, 1]) },
  { name: 'tile', shapes: [[2, 3]], f: (x) => tf.tile(x, [2, 3]) },
  {
    name: 'pad',
    shapes: [[2, 3]],
    f: (x) =>
      tf.pad(x, [
        [1, 0],
        [0, 2],
      ]),
  },
  { name: 'broadcastTo', shapes: [[3, 1]], f: (x) => tf.broadcastTo(x, [3, 4]) },
  { name: 'gather', shapes: [[4, 3]], f: (x) => tf.gather(x, tf.tensor1d([2, 0, 2], 'int32')) },
  { name: 'gather axis 1', shapes: [[3, 4]], f: (x) => tf.gather(x, tf.tensor1d([3, 1, 1], 'int32'), 1) },
  {
    name: 'unsortedSegmentSum',
    shapes: [[4, 3]],
    f: (x) => tf.unsortedSegmentSum(x, tf.tensor1d([1, 0, 1, -1], 'int32'), 3),
  },
  { name: 'stopGradient', shapes: [[2, 3]], f: (x) => tf.mul(stopGradient(tf.exp(x)), 1), forwardOnly: true },
];

const convolutions: KernelCase[] = [
  ...(['same', 'valid'] as const).flatMap((pad) =>
    [1, 2, 3].map((stride) => ({
      name: `conv2d 3x2 ${pad} stride ${stride}`,
      shapes: [
        [2, 5, 4, 2],
        [3, 2, 2, 3],
      ],
      f: (x: tf.Tensor, filter: tf.Tensor) => tf.conv2d(t4(x), t4(filter), stride, pad),
    })),
  ),
  {
    name: 'conv2d strides 2, 1',
    shapes: [
      [1, 6, 5, 1],
      [2, 3, 1, 2],
    ],
    f: (x, filter) => tf.conv2d(t4(x), t4(filter), [2, 1], 'same'),
  },
  {
    name: 'conv2d explicit padding',
    shapes: [
      [1, 4, 4, 1],
      [3, 3, 1, 1],
    ],
    f: (x, filter) => tf.conv2d(t4(x), t4(filter), 1, 2),
    refusedBy: ['tensorflow'],
  },
  {
    name: 'conv2dTranspose',
    shapes: [
      [1, 3, 3, 2],
      [3, 3, 1, 2],
    ],
    f: (x, filter) => tf.conv2dTranspose(t4(x), t4(filter), [1, 5, 5, 1], 2, 'same'),
  },
  ...(['same', 'valid'] as const).map((pad) => ({
    name: `depthwiseConv2d ${pad}`,
    shapes: [
      [1, 4, 5, 2],
      [3, 2, 2, 2],
    ],
    f: (x: tf.Tensor, filter: tf.Tensor) => tf.depthwiseConv2d(t4(x), t4(filter), 1, pad),
  })),
  {
    name: 'fused conv2d',
    shapes: [
      [1, 4, 4, 2],
      [3, 3, 2, 2],
      [1, 2],
    ],
    f: (x, filter, bias) =>
      tf.fused.conv2d({
        x: t4(x),
        filter: t4(filter),
        strides: 1,
        pad: 'same',
        bias: tf.reshape(bias, [2]),
        activation: 'relu',
      }),
  },
  ...([undefined, 'negative'] as const)
    .flatMap((values) =>
      [1, 2].flatMap((stride) => [
        {
          name: 'maxPool',
          f: (x: tf.Tensor) => tf.maxPool(t4(x), [2, 3], stride, 'same'),
          shapes: [[1, 4, 5, 2]],
          values,
          stride,
        },
        {
          name: 'avgPool',
          f: (x: tf.Tensor) => tf.avgPool(t4(x), [2, 3], stride, 'same'),
          shapes: [[1, 4, 5, 2]],
          values,
          stride,
        },
        {
          name: 'maxPool3d',
          f: (x: tf.Tensor) => tf.maxPool3d(t5(x), 2, stride, 'same'),
          shapes: [[1, 3, 3, 2, 1]],
          values,
          stride,
        },
        {
          name: 'avgPool3d',
          f: (x: tf.Tensor) => tf.avgPool3d(t5(x), 2, stride, 'same'),
          shapes: [[1, 3, 3, 2, 1]],
          values,
          stride,
        },
      ]),
    )
    .map(({ name, values, stride, ...rest }) => ({
      ...rest,
      name: `${name} stride ${stride} ${values ?? 'mixed'}`,
      ...(values && { values }),
    })),
  ...(['same', 'valid'] as const).map((pad) => ({
    name: `conv3d ${pad}`,
    shapes: [
      [1, 3, 3, 3, 2],
      [2, 2, 2, 2, 1],
    ],
    f: (x: tf.Tensor, filter: tf.Tensor) => tf.conv3d(t5(x), t5(filter), 1, pad),
  })),
];

/** Large enough for the other path that some of our wasm kernels take by size. */
const large: KernelCase[] = [
  { name: 'tanh large', shapes: [[64, 40]], f: (x) => tf.tanh(tf.mul(x, 3)), forwardOnly: true },
  { name: 'sum axis 0 large', shapes: [[64, 40]], f: (x) => tf.sum(x, 0), forwardOnly: true },
  { name: 'sum axes 0, 1 kept, large', shapes: [[8, 8, 40]], f: (x) => tf.sum(x, [1, 0], true), forwardOnly: true },
  {
    name: 'sum int32 large',
    shapes: [[64, 40]],
    f: (x) => tf.sum(tf.cast(tf.mul(x, 9), 'int32'), 0),
    forwardOnly: true,
  },
  {
    name: 'matMul NN large',
    shapes: [
      [3, 18, 16],
      [3, 16, 17],
    ],
    f: (a, b) => tf.matMul(a, b),
    forwardOnly: true,
  },
  {
    name: 'matMul TT large',
    shapes: [
      [2, 2, 16, 18],
      [2, 2, 17, 16],
    ],
    f: (a, b) => tf.matMul(a, b, true, true),
    forwardOnly: true,
  },
  {
    name: 'conv2d 12 channels',
    shapes: [
      [1, 4, 5, 12],
      [3, 3, 12, 2],
    ],
    f: (x, filter) => tf.conv2d(t4(x), t4(filter), 1, 'same'),
  },
];

const others: KernelCase[] = [
  {
    name: 'oneHot',
    shapes: [[4]],
    f: (x) => tf.oneHot(tf.cast(tf.abs(x), 'int32') as tf.Tensor1D, 3),
    forwardOnly: true,
  },
  { name: 'argMax', shapes: [[3, 4]], f: (x) => tf.argMax(x, 1), forwardOnly: true },
  { name: 'argMin', shapes: [[3, 4]], f: (x) => tf.argMin(x, 1), forwardOnly: true },
  { name: 'topk', shapes: [[3, 4]], f: (x) => tf.topk(x, 2).values, forwardOnly: true },
  {
    name: 'einsum',
    shapes: [
      [2, 3],
      [3, 4],
    ],
    f: (a, b) => tf.einsum('ij,jk->ki', a, b),
    forwardOnly: true,
  },
  { name: 'cumprod', shapes: [[2, 3]], f: (x) => tf.cumprod(x, 1), forwardOnly: true },
  { name: 'stridedSlice', shapes: [[4, 5]], f: (x) => tf.stridedSlice(x, [3, 0], [0, 5], [-1, 2]), forwardOnly: true },
  { name: 'isNaN', shapes: [[3]], f: (x) => tf.isNaN(tf.log(x)), forwardOnly: true },
  {
    name: 'all, any',
    shapes: [[3, 4]],
    f: (x) => tf.logicalXor(tf.all(tf.greater(x, -2), 1), tf.any(tf.greater(x, 2), 1)),
    forwardOnly: true,
  },
  { name: 'range', shapes: [[3]], f: (x) => tf.mul(x, tf.range(0, 3)) },
  { name: 'floorDiv, mod', shapes: [[3, 3]], f: (x) => tf.add(tf.floorDiv(x, 0.7), tf.mod(x, 0.7)), forwardOnly: true },
];

export const kernelCases: readonly KernelCase[] = [
  ...unary,
  ...unaryPositive,
  ...binary,
  ...reductions,
  ...products,
  ...broadcastProducts,
  ...fused,
  ...movement,
  ...convolutions,
  ...large,
  ...others,
];
