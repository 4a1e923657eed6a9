import { sizeOf } from '@coplay/core/arrays';
import { tf } from '@coplay/tensor';
import { DTYPES, type Dtype, input, numbers, SHAPES, type WasmCase } from './inputs';

type Move = (x: tf.Tensor) => tf.Tensor | tf.Tensor[];

/** Each movement with the shapes that it takes, for every dtype. */
const MOVES: readonly (readonly [string, readonly (readonly number[])[], Move])[] = [
  ['reshape', SHAPES, (x) => tf.reshape(x, [1, x.size])],
  ['expandDims', SHAPES, (x) => tf.expandDims(x, -1)],
  ['squeeze', SHAPES, (x) => tf.squeeze(x)],
  ['transpose', SHAPES, (x) => tf.transpose(x)],
  ['reverse', SHAPES, (x) => tf.reverse(x)],
  ['reverse the last', SHAPES.slice(1), (x) => tf.reverse(x, -1)],
  [
    'tile',
    SHAPES.slice(1),
    (x) =>
      tf.tile(
        x,
        x.shape.map((_, i) => 1 + (i % 2)),
      ),
  ],
  [
    'tile none',
    SHAPES.slice(1),
    (x) =>
      tf.tile(
        x,
        x.shape.map((_, i) => (i === 0 ? 0 : 2)),
      ),
  ],
  ['broadcastTo', SHAPES, (x) => tf.broadcastTo(x, [2, ...x.shape])],
  [
    'broadcastTo in the middle',
    [
      [3, 1],
      [2, 1, 3],
      [1, 0],
    ],
    (x) =>
      tf.broadcastTo(
        x,
        x.shape.map((d) => (d === 1 ? 2 : d)),
      ),
  ],
  ['stack', SHAPES.slice(0, -1), (x) => tf.stack([x, tf.reverse(x)])],
  ['stack at the end', SHAPES.slice(0, -1), (x) => tf.stack([x, x], -1)],
  ['unstack', SHAPES.slice(1), (x) => tf.unstack(x)],
  ['unstack the last', SHAPES.slice(1), (x) => tf.unstack(x, -1)],
  ['concat', SHAPES.slice(1), (x) => tf.concat([x, tf.reverse(x)], 0)],
  ['concat the last', SHAPES.slice(1), (x) => tf.concat([x, x, tf.reverse(x)], -1)],
  ['concat of one', SHAPES.slice(1), (x) => tf.concat([x])],
  ['split', [[4], [4, 3], [4, 0], [2, 3, 2, 3]], (x) => tf.split(x, 2)],
  ['split by sizes', [[7], [7, 2], [7, 0]], (x) => tf.split(x, [3, 0, 4])],
  [
    'split the last',
    [
      [3, 4],
      [0, 4],
      [2, 1, 2, 2, 1, 4],
    ],
    (x) => tf.split(x, [1, 3], -1),
  ],
  [
    'slice',
    SHAPES.slice(1),
    (x) =>
      tf.slice(
        x,
        x.shape.map((d) => Math.min(1, d)),
        x.shape.map((d) => Math.max(0, d - 1)),
      ),
  ],
  [
    'slice of nothing',
    SHAPES.slice(1),
    (x) =>
      tf.slice(
        x,
        x.shape.map(() => 0),
        x.shape.map(() => 0),
      ),
  ],
  [
    'pad',
    [[7], [3, 4], [2, 1, 3], [2, 3, 2, 3], [0, 3]],
    (x) =>
      tf.pad(
        x,
        x.shape.map((_, i) => [i, 1]),
        3,
      ),
  ],
  [
    'pad by nothing',
    [[7], [3, 4]],
    (x) =>
      tf.pad(
        x,
        x.shape.map(() => [0, 0]),
      ),
  ],
  [
    'mirrorPad, reflect',
    [[7], [3, 4], [2, 3, 2, 3]],
    (x) =>
      tf.mirrorPad(
        x,
        x.shape.map(() => [1, 1]),
        'reflect',
      ),
  ],
  [
    'mirrorPad, symmetric',
    [[7], [3, 4], [2, 3, 2, 3]],
    (x) =>
      tf.mirrorPad(
        x,
        x.shape.map(() => [1, 2]),
        'symmetric',
      ),
  ],
  [
    'stridedSlice',
    [[7], [3, 4], [2, 3, 2, 3]],
    (x) =>
      tf.stridedSlice(
        x,
        x.shape.map(() => 0),
        [...x.shape],
        x.shape.map(() => 2),
      ),
  ],
  [
    'stridedSlice, backwards',
    [[7], [3, 4], [0, 3]],
    (x) =>
      tf.stridedSlice(
        x,
        x.shape.map(() => -1),
        x.shape.map(() => 0),
        x.shape.map(() => -1),
      ),
  ],
  ['stridedSlice, masks', [[3, 4]], (x) => tf.stridedSlice(x, [1, 1], [2, 3], [1, 1], 1, 1, 0, 0, 2)],
  ['stridedSlice, an axis more', [[3, 4]], (x) => tf.stridedSlice(x, [1, 0, 1], [3, 0, 3], [1, 1, 1], 0, 0, 0, 2, 0)],
  [
    'spaceToBatchND',
    [
      [2, 4, 4, 1],
      [1, 2, 2, 3],
      [0, 4, 4, 1],
    ],
    (x) =>
      tf.spaceToBatchND(
        x,
        [2, 2],
        [
          [0, 0],
          [0, 0],
        ],
      ),
  ],
  [
    'spaceToBatchND, padded',
    [[1, 3, 3, 2]],
    (x) =>
      tf.spaceToBatchND(
        x,
        [2, 2],
        [
          [0, 1],
          [1, 0],
        ],
      ),
  ],
  [
    'batchToSpaceND',
    [
      [4, 2, 2, 1],
      [8, 1, 3, 2],
    ],
    (x) =>
      tf.batchToSpaceND(
        x,
        [2, 2],
        [
          [0, 0],
          [0, 0],
        ],
      ),
  ],
  [
    'batchToSpaceND, cropped',
    [[4, 2, 2, 1]],
    (x) =>
      tf.batchToSpaceND(
        x,
        [2, 2],
        [
          [0, 1],
          [1, 0],
        ],
      ),
  ],
  [
    'depthToSpace',
    [
      [1, 2, 2, 4],
      [2, 1, 3, 8],
    ],
    (x) => tf.depthToSpace(x as tf.Tensor4D, 2),
  ],
  ['diag', [[3], [0], [2, 2]], (x) => tf.diag(x)],
  ['meshgrid', [[3]], (x) => tf.meshgrid(x, tf.range(0, 2))],
];

const moves: readonly WasmCase[] = MOVES.flatMap(([name, shapes, f]) =>
  DTYPES.flatMap((dtype) =>
    shapes.map((shape, i) => ({
      name: `${name} of ${dtype} [${shape}]`,
      f,
      inputs: [input(shape, dtype, 700 + i, 'hard')],
    })),
  ),
);

const PERMUTATIONS = [
  [
    [2, 3, 4],
    [1, 0, 2],
  ],
  [
    [2, 3, 4],
    [0, 2, 1],
  ],
  [
    [2, 3, 4],
    [2, 0, 1],
  ],
  [
    [2, 0, 4],
    [2, 0, 1],
  ],
  [
    [2, 3, 1, 4],
    [3, 1, 0, 2],
  ],
  [
    [2, 3, 1, 4],
    [0, 2, 1, 3],
  ],
  [
    [2, 1, 3, 2, 2],
    [4, 2, 0, 3, 1],
  ],
  [
    [2, 1, 3, 2, 2, 2],
    [5, 0, 3, 1, 4, 2],
  ],
  [
    [2, 1, 3, 2, 2, 2],
    [0, 1, 2, 3, 5, 4],
  ],
  [
    [33, 18],
    [1, 0],
  ],
] as const;
const transposes: readonly WasmCase[] = DTYPES.flatMap((dtype) =>
  PERMUTATIONS.map(([shape, perm]) => ({
    name: `transpose of ${dtype} [${shape}] by [${perm}]`,
    f: (x: tf.Tensor) => tf.transpose(x, [...perm]),
    inputs: [input(shape, dtype, 1, 'hard')],
  })),
);

/** Operands that come out of a transposition or a reshape. */
const views: readonly WasmCase[] = DTYPES.flatMap((dtype) =>
  (
    [
      ['sum', (x) => tf.sum(x, 0)],
      ['max', (x) => tf.max(x, 1)],
      ['add', (x) => tf.add(x, tf.reshape(x, [4, 3]))],
      ['slice', (x) => tf.slice(x, [1, 1], [2, 2])],
      ['gather', (x) => tf.gather(x, tf.tensor1d([1, 0], 'int32'), 1)],
      ['concat', (x) => tf.concat([x, tf.reshape(x, [4, 3])], 1)],
      ['argMax', (x) => tf.argMax(x, 0)],
    ] as [string, Move][]
  ).map(([name, f]) => ({
    name: `${name} of a transposed ${dtype}`,
    f: (x: tf.Tensor) => f(tf.transpose(x)),
    inputs: [input([3, 4], dtype, 3)],
  })),
);

/** Shape of x, shape of the indices, axis, axes of the batch. */
const GATHERS: readonly (readonly [readonly number[], readonly number[], number, number])[] = [
  [[5], [3], 0, 0],
  [[5], [], 0, 0],
  [[5], [0], 0, 0],
  [[5], [2, 3], 0, 0],
  [[3, 4], [2], 0, 0],
  [[3, 4], [2], 1, 0],
  [[3, 4], [2, 2], -1, 0],
  [[3, 4], [0], 1, 0],
  [[3, 0], [2], 0, 0],
  [[0, 3], [2], 1, 0],
  [[2, 3], [2, 2], 1, 1],
  [[2, 3], [2, 0], 1, 1],
  [[2, 0, 3], [2, 2], 2, 1],
  [[2, 3, 4], [2, 5], 1, 1],
  [[2, 3, 4], [2, 5], 2, 1],
  [[2, 3, 4], [2, 3, 2], 2, 2],
  [[2, 3, 4], [2, 3, 2], -1, -1],
  [[2, 3, 4, 2], [2, 2, 2], 2, 1],
  [[2, 3, 2, 2, 2], [3, 2], 3, 0],
  [[2, 2, 2, 2, 2, 3], [2, 2, 3], 5, 2],
];
const gathers: readonly WasmCase[] = DTYPES.flatMap((dtype) =>
  GATHERS.map(([shape, at, axis, batch]) => ({
    name: `gather from ${dtype} [${shape}] by [${at}], axis ${axis}, batch ${batch}`,
    f: (x: tf.Tensor, indices: tf.Tensor) => tf.gather(x, indices, axis, batch),
    inputs: [input(shape, dtype, 2, 'hard'), indicesBelow(at, Math.max(1, shape.at(axis)!))],
  })),
);

/** Of a shape, below `limit`. */
function indicesBelow(shape: readonly number[], limit: number): WasmCase['inputs'][number] {
  const size = shape.reduce((product, d) => product * d, 1);
  return numbers(
    shape,
    'int32',
    Array.from({ length: size }, (_, i) => (7 * i + 1) % limit),
  );
}

const arrayKinds = (dtype: Dtype): WasmCase[] => [
  ...(
    [
      [
        [3, 4],
        [2, 1],
      ],
      [
        [3, 4],
        [2, 2],
      ],
      [
        [3, 4, 2],
        [2, 2, 2],
      ],
      [
        [3, 4],
        [0, 2],
      ],
      [[3, 4], [1]],
      [
        [3, 4],
        [3, 0],
      ],
    ] as const
  ).map(([shape, at]) => ({
    name: `gatherND of ${dtype} [${shape}] by [${at}]`,
    f: (x: tf.Tensor, indices: tf.Tensor) => tf.gatherND(x, indices),
    inputs: [input(shape, dtype, 2, 'hard'), indicesBelow(at, 3)],
  })),
  ...(
    [
      [[3, 1], [3], [6]],
      [
        [3, 1],
        [3, 2],
        [4, 2],
      ],
      [[3, 2], [3], [3, 4]],
      [[0, 1], [0], [4]],
      [
        [2, 2, 1],
        [2, 2, 3],
        [5, 3],
      ],
    ] as const
  ).flatMap(([at, updates, shape]) => [
    {
      name: `scatterND of ${dtype} [${at}] to [${shape}]`,
      f: (indices: tf.Tensor, x: tf.Tensor) => tf.scatterND(indices, x, [...shape]),
      inputs: [indicesBelow(at, 3), input(updates, dtype, 2)],
    },
    {
      name: `tensorScatterUpdate of ${dtype} [${at}] to [${shape}]`,
      f: (x: tf.Tensor, indices: tf.Tensor, y: tf.Tensor) => tf.tensorScatterUpdate(x, indices, y),
      inputs: [
        input(shape, dtype, 1, 'hard'),
        numbers(at, 'int32', [0, 2, 1, 1, 2, 0].slice(0, sizeOf(at))),
        input(updates, dtype, 2),
      ],
    },
  ]),
  {
    name: `scatterND of ${dtype}, twice to the same place`,
    f: (indices: tf.Tensor, x: tf.Tensor) => tf.scatterND(indices, x, [4]),
    inputs: [numbers([4, 1], 'int32', [1, 3, 1, 1]), input([4], dtype, 9)],
  },
  {
    name: `sparseToDense of ${dtype}`,
    f: (x: tf.Tensor) =>
      tf.sparseToDense(tf.tensor1d([0, 3], 'int32'), x, [5], tf.cast(tf.scalar(1), dtype) as tf.Scalar),
    inputs: [input([2], dtype, 4)],
  },
  ...[[4], [4, 3], [0], [4, 0]].map((shape) => ({
    name: `unsortedSegmentSum of ${dtype} [${shape}]`,
    f: (x: tf.Tensor) => tf.unsortedSegmentSum(x, tf.range(0, x.shape[0]!, 1, 'int32'), 3),
    inputs: [input(shape, dtype, 4)],
  })),
  ...[[6], [0], [3, 2]].map((shape) => ({
    name: `unique of ${dtype} [${shape}]`,
    f: (x: tf.Tensor) => {
      const { values, indices } = tf.unique(x);
      return [values, indices];
    },
    inputs: [input(shape, dtype, 5)],
  })),
];

const indexed: readonly WasmCase[] = [
  ...gathers,
  ...DTYPES.flatMap(arrayKinds),
  ...[[], [4], [2, 3], [0], [2, 1, 2]].flatMap((shape) =>
    (['float32', 'int32', 'bool'] as const).flatMap((dtype) =>
      [
        [1, 0],
        [5, -2],
      ].map(([on, off]) => ({
        name: `oneHot of [${shape}], ${on} and ${off}, ${dtype}`,
        f: (x: tf.Tensor) => tf.oneHot(x, 4, on, off, dtype),
        inputs: [input(shape, 'int32', 3)],
      })),
    ),
  ),
  ...DTYPES.flatMap((dtype) =>
    ([[[2, 3]], [[]], [[0]], [[2, 2, 1, 1, 2, 1]]] as number[][][]).map(([shape]) => ({
      name: `fill of ${dtype} [${shape}]`,
      f: () => tf.fill(shape!, dtype === 'int32' ? -7 : 1, dtype),
      inputs: [],
    })),
  ),
  ...(
    [
      [0, 5, 1],
      [5, 0, -2],
      [0, 1, 0.3],
      [3, 3, 1],
      [-4, 4, 3],
    ] as const
  ).flatMap(([start, stop, step]) =>
    (['float32', 'int32'] as const).map((dtype) => ({
      name: `range ${start} ${stop} ${step} of ${dtype}`,
      f: () => tf.range(start, stop, step, dtype),
      inputs: [],
    })),
  ),
  ...[1, 2, 5].map((count) => ({ name: `linspace ${count}`, f: () => tf.linspace(-1, 2, count), inputs: [] })),
  ...(['lowerBound', 'upperBound'] as const).flatMap((name) =>
    (['float32', 'int32'] as const).map((dtype) => ({
      name: `${name} of ${dtype}`,
      f: (sorted: tf.Tensor, x: tf.Tensor) => tf[name](sorted as tf.Tensor2D, x as tf.Tensor2D),
      inputs: [numbers([2, 4], dtype, [-3, 0, 1, 5, -9, -9, 2, 2]), numbers([2, 3], dtype, [0, 6, -4, 2, -9, 3])],
    })),
  ),
  ...[false, true].flatMap((binary) =>
    [0, 5].flatMap((length) => [
      {
        name: `bincount${binary ? ', binary' : ''}, ${length} weights`,
        f: (x: tf.Tensor, w: tf.Tensor) => tf.denseBincount(x as tf.Tensor1D, w as tf.Tensor1D, 4, binary),
        inputs: [numbers([5], 'int32', [0, 3, 3, 1, 2]), input([length], 'float32', 2)],
      },
    ]),
  ),
  {
    name: 'denseBincount of a matrix',
    f: (x: tf.Tensor) => tf.denseBincount(x as tf.Tensor2D, tf.tensor1d([]) as unknown as tf.Tensor2D, 4),
    inputs: [numbers([2, 3], 'int32', [0, 3, 3, 1, 2, 2])],
  },
  {
    name: 'bincount of int32',
    f: (x: tf.Tensor, w: tf.Tensor) => tf.bincount(x as tf.Tensor1D, w as tf.Tensor1D, 4),
    inputs: [numbers([5], 'int32', [0, 3, 3, 1, 7]), input([5], 'float32', 3)],
  },
  {
    name: 'broadcastArgs',
    f: (a: tf.Tensor, b: tf.Tensor) => tf.broadcastArgs(a, b),
    inputs: [numbers([3], 'int32', [2, 1, 3]), numbers([2], 'int32', [4, 1])],
  },
];

/** Kernels that move, look up or make numbers. */
export const movementCases: readonly WasmCase[] = [...moves, ...transposes, ...views, ...indexed];
