import { tf } from '@coplay/tensor';
import { DTYPES, type Input, input, type Kind, numbers, type WasmCase } from './inputs';

const floats = (shape: readonly number[], seed = 1, kind: Kind = 'plain'): Input => input(shape, 'float32', seed, kind);
const t2 = (x: tf.Tensor): tf.Tensor2D => x as tf.Tensor2D;
const t3 = (x: tf.Tensor): tf.Tensor3D => x as tf.Tensor3D;
const t4 = (x: tf.Tensor): tf.Tensor4D => x as tf.Tensor4D;
const t5 = (x: tf.Tensor): tf.Tensor5D => x as tf.Tensor5D;

/** Shapes before transposition. */
const PRODUCTS: readonly (readonly (readonly number[])[])[] = [
  [
    [3, 4],
    [4, 2],
  ],
  [
    [1, 1],
    [1, 1],
  ],
  [
    [0, 4],
    [4, 2],
  ],
  [
    [3, 0],
    [0, 2],
  ],
  [
    [2, 0, 3],
    [2, 3, 2],
  ],
  [
    [2, 3, 4],
    [2, 4, 2],
  ],
  [
    [1, 3, 4],
    [2, 4, 2],
  ],
  [
    [2, 3, 4],
    [4, 2],
  ],
  [
    [2, 1, 2, 1, 3, 4],
    [2, 1, 2, 1, 4, 2],
  ],
  [
    [2, 20, 24],
    [2, 24, 20],
  ],
];
const swap = (shape: readonly number[], isSwapped: boolean): readonly number[] =>
  isSwapped ? [...shape.slice(0, -2), shape.at(-1)!, shape.at(-2)!] : shape;

const products: readonly WasmCase[] = PRODUCTS.flatMap(([a, b]) =>
  [false, true].flatMap((transposeA) =>
    [false, true].flatMap((transposeB) =>
      (['plain', 'with NaN', 'int32'] as const).map((kind) => {
        const made = (shape: readonly number[], seed: number) =>
          kind === 'int32' ? input(shape, 'int32', seed) : floats(shape, seed, kind);
        return {
          name: `matMul ${transposeA ? 'T' : 'N'}${transposeB ? 'T' : 'N'} [${a}] [${b}], ${kind}`,
          f: (x: tf.Tensor, y: tf.Tensor) => tf.matMul(x, y, transposeA, transposeB),
          inputs: [made(swap(a!, transposeA), 3), made(swap(b!, transposeB), 4)],
        };
      }),
    ),
  ),
);

/** What fused kernels end with; NaN must come through each. */
const ACTIVATIONS = ['linear', 'relu', 'relu6', 'elu', 'sigmoid', 'leakyrelu', 'prelu'] as const;
type Activation = (typeof ACTIVATIONS)[number];

const fusedProducts: readonly WasmCase[] = ACTIVATIONS.flatMap((activation) =>
  (['plain', 'with NaN'] as const).flatMap((kind) =>
    [[], [2]].flatMap((batch) =>
      [true, false].map((hasBias) => ({
        name: `fused matMul, ${activation}, batch [${batch}]${hasBias ? ', bias' : ''}, ${kind}`,
        f: (a: tf.Tensor, b: tf.Tensor, bias: tf.Tensor, alpha: tf.Tensor) =>
          tf.fused.matMul({
            a,
            b,
            activation: activation as Activation,
            ...(hasBias && { bias }),
            ...(activation === 'prelu' && { preluActivationWeights: alpha }),
          }),
        inputs: [floats([...batch, 3, 4], 1, kind), floats([...batch, 4, 5], 2), floats([5], 3, kind), floats([5], 4)],
      })),
    ),
  ),
);

const fusedConvolutions: readonly WasmCase[] = ACTIVATIONS.flatMap((activation) =>
  (['plain', 'with NaN'] as const).flatMap((kind) =>
    [true, false].flatMap((isDepthwise) =>
      [true, false].map((hasBias) => ({
        name: `fused ${isDepthwise ? 'depthwise ' : ''}conv2d, ${activation}${hasBias ? ', bias' : ''}, ${kind}`,
        f: (x: tf.Tensor, filter: tf.Tensor, bias: tf.Tensor, alpha: tf.Tensor) =>
          (isDepthwise ? tf.fused.depthwiseConv2d : tf.fused.conv2d)({
            x: t4(x),
            filter: t4(filter),
            strides: 1,
            pad: 'same',
            activation: activation as Activation,
            ...(hasBias && { bias }),
            ...(activation === 'prelu' && { preluActivationWeights: alpha }),
          }),
        inputs: [
          floats([2, 4, 4, 3], 1, kind),
          floats([2, 2, 3, 1], 2),
          floats([isDepthwise ? 3 : 1], 3),
          floats([isDepthwise ? 3 : 1], 4),
        ],
      })),
    ),
  ),
);

const grad = (f: (x: tf.Tensor) => tf.Tensor) => (x: tf.Tensor) => tf.grad((y) => tf.sum(tf.mul(f(y), f(y))))(x);

const PADS = ['same', 'valid', 1] as const;
const pads: readonly WasmCase[] = PADS.flatMap((pad) =>
  (['plain', 'with NaN'] as const).flatMap((kind) =>
    [1, 2].flatMap((strides): WasmCase[] => {
      const name = (what: string) => `${what}, pad ${pad}, strides ${strides}, ${kind}`;
      const x = floats([2, 5, 6, 3], 1, kind);
      const filter = floats([3, 2, 3, 2], 2);
      const volume = floats([1, 3, 4, 4, 2], 1, kind);
      return [
        { name: name('conv2d'), f: (a, w) => tf.conv2d(t4(a), t4(w), strides, pad), inputs: [x, filter] },
        {
          name: name('conv2d, gradients'),
          f: (a, w) => tf.grads((...y) => tf.sum(tf.square(tf.conv2d(t4(y[0]!), t4(y[1]!), strides, pad))))([a, w]),
          inputs: [x, filter],
        },
        {
          name: name('depthwiseConv2d'),
          f: (a, w) => tf.depthwiseConv2d(t4(a), t4(w), strides, pad),
          inputs: [x, filter],
        },
        {
          name: name('depthwiseConv2d, gradients'),
          f: (a, w) =>
            tf.grads((...y) => tf.sum(tf.square(tf.depthwiseConv2d(t4(y[0]!), t4(y[1]!), strides, pad))))([a, w]),
          inputs: [x, filter],
        },
        {
          name: name('conv3d'),
          f: (a, w) => tf.conv3d(t5(a), t5(w), strides, pad as 'same'),
          inputs: [volume, floats([2, 2, 2, 2, 2], 3)],
        },
        {
          name: name('conv3d, gradients'),
          f: (a, w) =>
            tf.grads((...y) => tf.sum(tf.square(tf.conv3d(t5(y[0]!), t5(y[1]!), strides, pad as 'same'))))([a, w]),
          inputs: [volume, floats([2, 2, 2, 2, 2], 3)],
        },
        ...([1, 2, 3, [3, 2]] as (number | [number, number])[]).flatMap((size): WasmCase[] => [
          ...(pad === 1 && size === 1
            ? []
            : ([
                { name: name(`maxPool ${size}`), f: (a) => tf.maxPool(t4(a), size, strides, pad), inputs: [x] },
                { name: name(`avgPool ${size}`), f: (a) => tf.avgPool(t4(a), size, strides, pad), inputs: [x] },
                {
                  name: name(`avgPool ${size}, gradient`),
                  f: grad((a) => tf.avgPool(t4(a), size, strides, pad)),
                  inputs: [x],
                },
                {
                  name: name(`maxPool ${size}, gradient`),
                  f: grad((a) => tf.maxPool(t4(a), size, strides, pad)),
                  inputs: [x],
                },
              ] as WasmCase[])),
        ]),
        ...[1, 2, 3]
          .filter((size) => pad !== 1 || size > 1)
          .flatMap((size): WasmCase[] => [
            { name: name(`maxPool3d ${size}`), f: (a) => tf.maxPool3d(t5(a), size, strides, pad), inputs: [volume] },
            { name: name(`avgPool3d ${size}`), f: (a) => tf.avgPool3d(t5(a), size, strides, pad), inputs: [volume] },
            {
              name: name(`maxPool3d ${size}, gradient`),
              f: grad((a) => tf.maxPool3d(t5(a), size, strides, pad)),
              inputs: [volume],
            },
            {
              name: name(`avgPool3d ${size}, gradient`),
              f: grad((a) => tf.avgPool3d(t5(a), size, strides, pad)),
              inputs: [volume],
            },
          ]),
      ];
    }),
  ),
);

const convolutions: readonly WasmCase[] = [
  ...[0, 2].map((batch) => ({
    name: `conv2d, batch ${batch}, dilated`,
    f: (x: tf.Tensor, w: tf.Tensor) => tf.conv2d(t4(x), t4(w), 1, 'same', 'NHWC', 2),
    inputs: [floats([batch, 5, 6, 3]), floats([3, 2, 3, 2], 2)],
  })),
  {
    name: 'depthwiseConv2d, dilated, two for each channel',
    f: (x, w) => tf.depthwiseConv2d(t4(x), t4(w), 1, 'valid', 'NHWC', 2),
    inputs: [floats([1, 6, 6, 3]), floats([2, 2, 3, 2], 2)],
  },
  ...(
    [
      [2, 1],
      [1, 2],
    ] as [number, number][]
  ).map((strides) => ({
    name: `conv2d, strides ${strides}, pad 1`,
    f: (x: tf.Tensor, w: tf.Tensor) => tf.conv2d(t4(x), t4(w), strides, 1),
    inputs: [floats([2, 5, 6, 3]), floats([3, 3, 3, 2], 2)],
  })),
  {
    name: 'separableConv2d',
    f: (x, d, p) => tf.separableConv2d(t4(x), t4(d), t4(p), 1, 'same'),
    inputs: [floats([1, 6, 6, 3]), floats([2, 2, 3, 2], 2), floats([1, 1, 6, 4], 3)],
  },
  {
    name: 'conv2dTranspose',
    f: (x, w) => tf.conv2dTranspose(t4(x), t4(w), [2, 8, 8, 3], 2, 'same'),
    inputs: [floats([2, 4, 4, 2]), floats([3, 3, 3, 2], 2)],
  },
  {
    name: 'conv3dTranspose',
    f: (x, w) => tf.conv3dTranspose(t5(x), t5(w), [1, 4, 4, 4, 3], 2, 'same'),
    inputs: [floats([1, 2, 2, 2, 2]), floats([2, 2, 2, 3, 2], 2)],
  },
  {
    name: 'conv1d',
    f: (x, w) => tf.conv1d(t3(x), t3(w), 1, 'same'),
    inputs: [floats([2, 6, 3]), floats([3, 3, 2], 2)],
  },
  {
    name: 'dilation2d',
    f: (x, w) => tf.dilation2d(t4(x), t3(w), 1, 'same'),
    inputs: [floats([1, 4, 4, 2]), floats([2, 2, 2], 2)],
  },
  {
    name: 'dilation2d, gradients',
    f: (x, w) => tf.grads((...y) => tf.sum(tf.square(tf.dilation2d(t4(y[0]!), t3(y[1]!), 1, 'same'))))([x, w]),
    inputs: [floats([1, 4, 4, 2]), floats([2, 2, 2], 2)],
  },
  {
    name: 'maxPoolWithArgmax',
    f: (x) => Object.values(tf.maxPoolWithArgmax(t4(x), 2, 2, 'same', true)),
    inputs: [floats([2, 4, 4, 3])],
  },
  ...(['plain', 'with NaN'] as const).flatMap((kind): WasmCase[] => [
    {
      name: `batchNorm, ${kind}`,
      f: (x, mean, variance, offset, scale) =>
        tf.batchNorm(
          t4(x),
          mean as tf.Tensor1D,
          tf.abs(variance) as tf.Tensor1D,
          offset as tf.Tensor1D,
          scale as tf.Tensor1D,
        ),
      inputs: [floats([2, 3, 3, 2], 1, kind), floats([2], 2), floats([2], 3), floats([2], 4), floats([2], 5)],
    },
    {
      name: `batchNorm without scale, ${kind}`,
      f: (x, mean, variance) => tf.batchNorm(t2(x), mean as tf.Tensor1D, tf.abs(variance) as tf.Tensor1D),
      inputs: [floats([3, 2], 1, kind), floats([2], 2), floats([2], 3)],
    },
    {
      name: `lrn, ${kind}`,
      f: (x) => tf.localResponseNormalization(t4(x), 2),
      inputs: [floats([1, 2, 2, 6], 1, kind)],
    },
    {
      name: `lrn, gradient, ${kind}`,
      f: grad((x) => tf.localResponseNormalization(t4(x), 2)),
      inputs: [floats([1, 2, 2, 6], 1, kind)],
    },
  ]),
];

const images: readonly WasmCase[] = [
  ...(['resizeBilinear', 'resizeNearestNeighbor'] as const).flatMap((name) =>
    [false, true].flatMap((align) =>
      [false, true]
        .filter((half) => !(align && half))
        .flatMap((half) =>
          (
            [
              [3, 7],
              [8, 2],
              [1, 1],
            ] as [number, number][]
          ).flatMap((size): WasmCase[] => [
            {
              name: `${name} to ${size}${align ? ', aligned' : ''}${half ? ', half pixels' : ''}`,
              f: (x) => tf.image[name](t4(x), size, align, half),
              inputs: [floats([2, 4, 5, 2])],
            },
            {
              name: `${name} to ${size}${align ? ', aligned' : ''}${half ? ', half pixels' : ''}, int32`,
              f: (x) => tf.image[name](t4(x), size, align, half),
              inputs: [input([1, 4, 5, 2], 'int32', 3)],
            },
            ...(half
              ? []
              : [
                  {
                    name: `${name} to ${size}${align ? ', aligned' : ''}, gradient`,
                    f: grad((x) => tf.image[name](t4(x), size, align)),
                    inputs: [floats([1, 4, 4, 2])], // of other images cpu gives the gradient a wrong shape
                  },
                ]),
          ]),
        ),
    ),
  ),
  { name: 'flipLeftRight', f: (x) => tf.image.flipLeftRight(t4(x)), inputs: [floats([2, 3, 4, 2])] },
  { name: 'rotateWithOffset', f: (x) => tf.image.rotateWithOffset(t4(x), 0.5, 0.25), inputs: [floats([1, 4, 4, 2])] },
  ...(['bilinear', 'nearest'] as const).flatMap((method): WasmCase[] => [
    {
      name: `cropAndResize, ${method}`,
      f: (x, boxes) => tf.image.cropAndResize(t4(x), t2(boxes), tf.tensor1d([0, 1], 'int32'), [3, 3], method, 7),
      inputs: [floats([2, 4, 4, 2]), numbers([2, 4], 'float32', [0, 0, 1, 1, 0.2, 0.1, 1.4, 0.8])],
    },
    ...(['constant', 'reflect', 'wrap', 'nearest'] as const).map((fill) => ({
      name: `transform, ${method}, ${fill}`,
      f: (x: tf.Tensor, by: tf.Tensor) => tf.image.transform(t4(x), t2(by), method, fill, 3, [5, 5]),
      inputs: [floats([1, 4, 4, 2]), numbers([1, 8], 'float32', [1, 0.1, -1, 0.2, 1, 1, 0, 0])],
    })),
  ]),
  {
    name: 'nonMaxSuppression',
    f: (boxes, scores) => tf.image.nonMaxSuppression(t2(boxes), scores as tf.Tensor1D, 3, 0.5),
    inputs: [
      numbers([4, 4], 'float32', [0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 2, 1, 3, 0, 2.05, 1, 3.05]),
      numbers([4], 'float32', [0.9, 0.75, 0.6, 0.95]),
    ],
  },
  {
    name: 'nonMaxSuppressionWithScore',
    f: (boxes, scores) =>
      Object.values(
        tf.image.nonMaxSuppressionWithScore(t2(boxes), scores as tf.Tensor1D, 3, 0.5, -Infinity, 0.5),
      ) as tf.Tensor[],
    inputs: [
      numbers([3, 4], 'float32', [0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 2, 1, 3]),
      numbers([3], 'float32', [0.9, 0.75, 0.6]),
    ],
  },
  {
    name: 'nonMaxSuppressionPadded',
    f: (boxes, scores) =>
      Object.values(tf.image.nonMaxSuppressionPadded(t2(boxes), scores as tf.Tensor1D, 3, 0.5, 0, true)) as tf.Tensor[],
    inputs: [
      numbers([3, 4], 'float32', [0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 2, 1, 3]),
      numbers([3], 'float32', [0.9, 0.75, 0.6]),
    ],
  },
  { name: 'grayscaleToRGB', f: (x) => tf.image.grayscaleToRGB(t4(x)), inputs: [floats([1, 2, 2, 1])] },
];

const sparse: readonly WasmCase[] = [
  ...(['sparseSegmentSum', 'sparseSegmentMean'] as const).flatMap((name) =>
    (['float32', 'int32'] as const).map((dtype) => ({
      name: `${name} of ${dtype}`,
      f: (x: tf.Tensor) => tf.sparse[name](t2(x), tf.tensor1d([0, 2, 1], 'int32'), tf.tensor1d([0, 0, 2], 'int32')),
      inputs: [input([3, 2], dtype, 2)],
    })),
  ),
  {
    name: 'sparseReshape',
    f: (at) =>
      Object.values(
        tf.sparse.sparseReshape(t2(at), tf.tensor1d([2, 3], 'int32'), tf.tensor1d([3, -1], 'int32')),
      ) as tf.Tensor[],
    inputs: [numbers([3, 2], 'int32', [0, 0, 0, 1, 1, 2])],
  },
  {
    name: 'sparseFillEmptyRows',
    f: (at, x) =>
      Object.values(
        tf.sparse.sparseFillEmptyRows(t2(at), x as tf.Tensor1D, tf.tensor1d([4, 3], 'int32'), tf.scalar(-1)),
      ) as tf.Tensor[],
    inputs: [numbers([2, 2], 'int32', [0, 1, 2, 2]), floats([2])],
  },
  ...DTYPES.filter((dtype) => dtype !== 'bool').map((dtype) => ({
    name: `einsum of ${dtype}`,
    f: (a: tf.Tensor, b: tf.Tensor) => tf.einsum('ij,jk->ik', a, b),
    inputs: [input([2, 3], dtype, 1), input([3, 2], dtype, 2)],
  })),
];

const GRADIENTS: Readonly<Record<string, (x: tf.Tensor) => tf.Tensor>> = {
  elu: tf.elu,
  selu: tf.selu,
  relu: tf.relu,
  relu6: tf.relu6,
  prelu: (x) => tf.prelu(x, tf.scalar(0.3)),
  leakyRelu: (x) => tf.leakyRelu(x),
  tanh: tf.tanh,
  sigmoid: tf.sigmoid,
  softplus: tf.softplus,
  softmax: (x) => tf.softmax(x),
  logSoftmax: (x) => tf.logSoftmax(x),
  max: (x) => tf.max(x, 0),
  min: (x) => tf.min(x, -1),
  sum: (x) => tf.sum(x, 0),
  mean: (x) => tf.mean(x, 0),
  prod: (x) => tf.prod(x, 0),
  clip: (x) => tf.clipByValue(x, -1, 1),
  cumsum: (x) => tf.cumsum(x, 0),
  abs: tf.abs,
  maximum: (x) => tf.maximum(x, 0.5),
  gather: (x) => tf.gather(x, tf.tensor1d([0], 'int32'), 0),
  'gather along the last axis': (x) => tf.gather(x, tf.tensor1d([0, 0], 'int32'), x.rank - 1),
  concat: (x) => tf.concat([x, x], 0),
  tile: (x) =>
    tf.tile(
      x,
      x.shape.map(() => 2),
    ),
  pad: (x) =>
    tf.pad(
      x,
      x.shape.map(() => [1, 1]),
    ),
  mirrorPad: (x) =>
    tf.mirrorPad(
      x,
      x.shape.map(() => [1, 1]),
      'symmetric',
    ),
  stack: (x) => tf.stack([x, x]),
  split: (x) => tf.split(x, x.shape[0]!, 0)[0]!,
  where: (x) => tf.where(tf.greater(x, 0), x, tf.square(x)),
};
const gradients: readonly WasmCase[] = Object.entries(GRADIENTS).flatMap(([name, f]) =>
  (['plain', 'with NaN'] as const).flatMap((kind) =>
    [[6], [3, 4], [1, 1], [2, 3, 4]].map((shape) => ({
      name: `gradient of ${name}, [${shape}], ${kind}`,
      f: grad(f),
      inputs: [floats(shape, 3, kind)],
    })),
  ),
);

/** Products, convolutions, pooling, images, sparse tensors; and gradients. */
export const networkCases: readonly WasmCase[] = [
  ...products,
  ...fusedProducts,
  ...fusedConvolutions,
  ...pads,
  ...convolutions,
  ...images,
  ...sparse,
  ...gradients,
];
