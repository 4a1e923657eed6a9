import { tf } from '@coplay/tensor';

/** A convolution that is compared with tfjs's own on cpu, forward and backward. */
export interface ConvCase {
  readonly name: string;
  readonly shapes: readonly (readonly number[])[];
  readonly f: (...x: tf.Tensor[]) => tf.Tensor;
  /** All inputs below 0, where a maximum or a padding that begins at the wrong number would show. */
  readonly isNegative?: boolean;
  /** tfjs has no gradient of dilated convolutions. */
  readonly forwardOnly?: boolean;
}

type Pad = 'same' | 'valid' | number | tf.backend_util.ExplicitPadding;
type Pair = [number, number];

/** [input, filter, strides, padding, dilations] */
type Row = readonly [readonly number[], readonly number[], Pair, Pad, Pair?];

const ROWS: readonly Row[] = [
  [[2, 5, 7, 3], [3, 3, 3, 4], [1, 1], 'same'],
  [[2, 5, 7, 3], [3, 3, 3, 4], [1, 1], 'valid'],
  [[2, 5, 7, 3], [3, 3, 3, 4], [2, 2], 'same'],
  [[2, 5, 7, 3], [3, 3, 3, 4], [2, 2], 'valid'],
  [[1, 6, 6, 1], [3, 3, 1, 1], [2, 2], 'same'],
  [[1, 6, 6, 1], [2, 2, 1, 1], [1, 1], 'same'],
  [[3, 7, 4, 2], [2, 3, 2, 3], [1, 2], 'same'],
  [[3, 7, 4, 2], [4, 1, 2, 3], [3, 1], 'valid'],
  [[2, 4, 5, 2], [1, 1, 2, 5], [1, 1], 'same'],
  [[2, 4, 5, 2], [1, 1, 2, 5], [2, 2], 'valid'],
  [[2, 5, 5, 2], [1, 1, 2, 2], [3, 3], 'same'],
  [[2, 9, 8, 2], [2, 2, 2, 2], [3, 3], 'valid'],
  [[2, 4, 4, 3], [4, 4, 3, 2], [1, 1], 'valid'],
  [[2, 3, 2, 2], [5, 5, 2, 2], [1, 1], 'same'],
  [[2, 3, 2, 2], [5, 4, 2, 2], [2, 2], 'same'],
  [[1, 1, 9, 2], [1, 3, 2, 2], [1, 1], 'same'],
  [[2, 6, 5, 2], [3, 3, 2, 2], [1, 1], 2],
  [[2, 5, 5, 2], [3, 3, 2, 2], [2, 2], 1],
  [[1, 4, 6, 2], [1, 3, 2, 2], [1, 1], 1],
  [[1, 4, 6, 2], [3, 1, 2, 2], [1, 1], 1],
  [[1, 5, 7, 2], [5, 1, 2, 2], [2, 2], 2],
  [
    [2, 5, 6, 2],
    [3, 3, 2, 2],
    [1, 1],
    [
      [0, 0],
      [2, 0],
      [1, 3],
      [0, 0],
    ],
  ],
  [
    [2, 5, 6, 2],
    [3, 2, 2, 2],
    [2, 2],
    [
      [0, 0],
      [1, 1],
      [2, 0],
      [0, 0],
    ],
  ],
  [[1, 12, 11, 2], [8, 8, 2, 3], [4, 4], 'valid'],
  [[1, 13, 11, 1], [3, 3, 1, 2], [5, 5], 'same'],
  [[1, 13, 11, 1], [6, 6, 1, 2], [5, 5], 'valid'],
  [[2, 9, 8, 2], [3, 3, 2, 3], [1, 1], 'same', [2, 2]],
  [[2, 9, 8, 2], [3, 2, 2, 3], [1, 1], 'valid', [2, 3]],
  [[2, 9, 8, 2], [3, 3, 2, 3], [1, 1], 2, [1, 2]],
];

function show([x, filter, strides, pad, dilations = [1, 1]]: Row): string {
  return `[${x}] * [${filter}], strides ${strides}, ${JSON.stringify(pad)}, dilations ${dilations}`;
}

const isDilated = ([, , , , dilations = [1, 1]]: Row): boolean => dilations.some((dilation) => dilation > 1);

const t3 = (x: tf.Tensor): tf.Tensor3D => x as tf.Tensor3D;
const t4 = (x: tf.Tensor): tf.Tensor4D => x as tf.Tensor4D;
const t5 = (x: tf.Tensor): tf.Tensor5D => x as tf.Tensor5D;

const dense = ROWS.flatMap((row): ConvCase[] => {
  const [x, filter, strides, pad, dilations] = row;
  const f = (a: tf.Tensor, b: tf.Tensor) => tf.conv2d(t4(a), t4(b), strides, pad, 'NHWC', dilations);
  const common = { shapes: [x, filter], f, forwardOnly: isDilated(row) };
  return [
    { ...common, name: `conv2d ${show(row)}` },
    { ...common, name: `conv2d ${show(row)}, negative`, isNegative: true },
  ];
});

const depthwise = ROWS.map((row): ConvCase => {
  const [x, [height, width, channels, multiplier], strides, pad, dilations] = row;
  const f = (a: tf.Tensor, b: tf.Tensor) => tf.depthwiseConv2d(t4(a), t4(b), strides, pad, 'NHWC', dilations);
  const filter = [height, width, channels, channels === 3 ? 1 : multiplier];
  return { name: `depthwise ${show(row)}`, shapes: [x, filter], f, forwardOnly: isDilated(row) };
});

/** The shape of the output for which tfjs takes this as a gradient with respect to the input. */
const transposed: readonly ConvCase[] = (
  [
    [[2, 3, 4, 2], [3, 3, 5, 2], [2, 6, 8, 5], 2, 'same'],
    [[2, 3, 4, 2], [3, 3, 5, 2], [2, 5, 7, 5], 2, 'same'],
    [[1, 3, 3, 2], [2, 2, 1, 2], [1, 6, 6, 1], 2, 'valid'],
    [[1, 3, 3, 2], [4, 4, 1, 2], [1, 3, 3, 1], 1, 'same'],
    [[1, 2, 3, 1], [3, 3, 2, 1], [1, 8, 11, 2], 4, 'same'],
  ] as const
).map(([x, filter, [n, h, w, c], stride, pad]) => ({
  name: `conv2dTranspose [${x}] * [${filter}] to [${h}, ${w}], stride ${stride}, ${pad}`,
  shapes: [x, filter],
  f: (a, b) => tf.conv2dTranspose(t4(a), t4(b), [n, h, w, c], stride, pad),
}));

const channelsFirst: readonly ConvCase[] = (
  [
    ['same', 1],
    ['valid', 2],
    [1, 1],
    [
      [
        [0, 0],
        [0, 0],
        [1, 0],
        [2, 1],
      ],
      1,
    ],
  ] as [Pad, number][]
).map(([pad, stride]) => ({
  name: `conv2d NCHW ${JSON.stringify(pad)} stride ${stride}`,
  shapes: [
    [2, 3, 5, 6],
    [3, 3, 3, 4],
  ],
  f: (a, b) => tf.conv2d(t4(a), t4(b), stride, pad, 'NCHW'),
}));

const rounded: readonly ConvCase[] = (['floor', 'round', 'ceil'] as const).flatMap((mode) => [
  {
    name: `conv2d, sizes by ${mode}`,
    shapes: [
      [1, 6, 6, 2],
      [3, 3, 2, 2],
    ],
    f: (a, b) => tf.conv2d(t4(a), t4(b), 2, 1, 'NHWC', 1, mode),
    forwardOnly: true, // tfjs doesn't hand the rounding on to the gradient
  },
  {
    name: `depthwise, sizes by ${mode}`,
    shapes: [
      [1, 6, 6, 2],
      [3, 3, 2, 2],
    ],
    f: (a, b) => tf.depthwiseConv2d(t4(a), t4(b), 2, 1, 'NHWC', 1, mode),
  },
]);

const otherRanks: readonly ConvCase[] = [
  {
    name: 'conv1d',
    shapes: [
      [2, 9, 3],
      [3, 3, 4],
    ],
    f: (a, b) => tf.conv1d(t3(a), t3(b), 2, 'same'),
  },
  {
    name: 'conv1d dilated',
    shapes: [
      [2, 9, 3],
      [3, 3, 4],
    ],
    f: (a, b) => tf.conv1d(t3(a), t3(b), 1, 'valid', 'NWC', 3),
    forwardOnly: true,
  },
  {
    name: 'conv2d of one image without a batch axis',
    shapes: [
      [5, 5, 2],
      [3, 3, 2, 2],
    ],
    f: (a, b) => tf.conv2d(t3(a), t4(b), 1, 'same'),
  },
  ...(
    [
      [1, 'same'],
      [1, 'valid'],
      [2, 'same'],
      [[1, 2, 3], 'valid'],
    ] as const
  ).map(
    ([strides, pad]): ConvCase => ({
      name: `conv3d strides ${strides} ${pad}`,
      shapes: [
        [2, 4, 5, 6, 2],
        [3, 2, 3, 2, 3],
      ],
      f: (a, b) => tf.conv3d(t5(a), t5(b), strides as [number, number, number], pad),
    }),
  ),
  {
    name: 'conv3d dilated',
    shapes: [
      [1, 6, 5, 5, 2],
      [3, 2, 2, 2, 3],
    ],
    f: (a, b) => tf.conv3d(t5(a), t5(b), 1, 'same', 'NDHWC', [1, 2, 2]),
    forwardOnly: true,
  },
  {
    name: 'conv3dTranspose',
    shapes: [
      [1, 2, 3, 2, 2],
      [3, 3, 3, 4, 2],
    ],
    f: (a, b) => tf.conv3dTranspose(t5(a), t5(b), [1, 4, 6, 4, 4], 2, 'same'),
    forwardOnly: true,
  },
  {
    name: 'separableConv2d',
    shapes: [
      [2, 6, 5, 3],
      [3, 3, 3, 2],
      [1, 1, 6, 4],
    ],
    f: (a, b, c) => tf.separableConv2d(t4(a), t4(b), t4(c), 1, 'same'),
  },
];

const fused: readonly ConvCase[] = (['linear', 'relu', 'relu6', 'elu', 'sigmoid', 'leakyrelu'] as const).flatMap(
  (activation): ConvCase[] => [
    {
      name: `fused conv2d ${activation}`,
      shapes: [[2, 5, 4, 3], [3, 3, 3, 4], [4]],
      f: (x, filter, bias) =>
        tf.fused.conv2d({
          x: t4(x),
          filter: t4(filter),
          strides: 1,
          pad: 'same',
          bias,
          activation,
          leakyreluAlpha: 0.3,
        }),
      forwardOnly: !['linear', 'relu', 'relu6'].includes(activation),
    },
    {
      name: `fused depthwise ${activation}`,
      shapes: [[2, 5, 4, 3], [3, 3, 3, 2], [6]],
      f: (x, filter, bias) =>
        tf.fused.depthwiseConv2d({
          x: t4(x),
          filter: t4(filter),
          strides: 1,
          pad: 'same',
          bias,
          activation,
          leakyreluAlpha: 0.3,
        }),
      forwardOnly: !['linear', 'relu', 'relu6'].includes(activation),
    },
  ],
);

const fusedOthers: readonly ConvCase[] = [
  {
    name: 'fused conv2d prelu',
    shapes: [[2, 5, 4, 3], [3, 3, 3, 4], [4], [4]],
    f: (x, filter, bias, preluActivationWeights) =>
      tf.fused.conv2d({
        x: t4(x),
        filter: t4(filter),
        strides: 1,
        pad: 'same',
        bias,
        activation: 'prelu',
        preluActivationWeights,
      }),
    forwardOnly: true,
  },
  {
    name: 'fused conv2d NCHW',
    shapes: [[2, 3, 5, 4], [3, 3, 3, 4], [4]],
    f: (x, filter, bias) =>
      tf.fused.conv2d({
        x: t4(x),
        filter: t4(filter),
        strides: 1,
        pad: 'same',
        dataFormat: 'NCHW',
        bias,
        activation: 'relu',
      }),
    forwardOnly: true,
  },
];

/** Large enough for ONNX Runtime's own Conv. */
const large: readonly ConvCase[] = [
  {
    name: 'large conv2d',
    shapes: [
      [15, 62, 64, 4],
      [3, 3, 4, 2],
    ],
    f: (a, b) => tf.conv2d(t4(a), t4(b), 1, 'same'),
    forwardOnly: true, // slow on cpu
  },
];

/** Odd sizes, strides, paddings, dilations and layouts. */
export const convCases: readonly ConvCase[] = [
  ...dense,
  ...depthwise,
  ...transposed,
  ...channelsFirst,
  ...rounded,
  ...otherRanks,
  ...fused,
  ...fusedOthers,
  ...large,
];
