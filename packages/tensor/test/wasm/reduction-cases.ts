import { tf } from '@coplay/tensor';
import { DTYPES, type Dtype, input, type Kind, numbers, SHAPES, type WasmCase } from './inputs';

type Reduction = (x: tf.Tensor, axis?: number | number[], keepDims?: boolean) => tf.Tensor;
const REDUCTIONS: Readonly<Record<string, Reduction>> = {
  all: (x, axis, keep) => tf.all(tf.cast(x, 'bool'), axis, keep),
  any: (x, axis, keep) => tf.any(tf.cast(x, 'bool'), axis, keep),
  euclideanNorm: tf.euclideanNorm,
  logSumExp: tf.logSumExp,
  max: tf.max,
  mean: tf.mean,
  min: tf.min,
  prod: tf.prod,
  sum: tf.sum,
  variance: (x, axis, keep) => tf.moments(x, axis, keep).variance,
};

/** No axis given, none, each, the first and last, and all. */
function axesOf(rank: number): (number | number[] | undefined)[] {
  const each = Array.from({ length: rank }, (_, axis) => axis);
  if (rank === 0) return [undefined, []];
  return [undefined, [], ...each, -1, ...(rank > 1 ? [[0, rank - 1], [0, 1], each] : [])];
}

const kinds = (dtype: Dtype): readonly Kind[] => (dtype === 'float32' ? ['plain', 'with NaN'] : ['plain']);
const large = [60, 50];

const reductions: readonly WasmCase[] = Object.entries(REDUCTIONS).flatMap(([name, f]) =>
  DTYPES.flatMap((dtype) =>
    kinds(dtype).flatMap((kind) =>
      [...SHAPES, large].flatMap((shape, i) =>
        axesOf(shape.length).map((axis, j) => {
          const keep = j % 2 === 1;
          return {
            name: `${name} of ${dtype} [${shape}], axes ${JSON.stringify(axis)}${keep ? ', kept' : ''}, ${kind}`,
            f: (x: tf.Tensor) => f(x, axis, keep),
            inputs: [input(shape, dtype, 400 + i, kind)],
          };
        }),
      ),
    ),
  ),
);

const AXIS: Readonly<Record<string, (x: tf.Tensor, axis: number) => tf.Tensor>> = {
  argMax: tf.argMax,
  argMin: tf.argMin,
  softmax: (x) => tf.softmax(x),
  logSoftmax: (x) => tf.logSoftmax(x),
  cumsum: (x, axis) => tf.cumsum(x, axis),
  'cumsum, exclusive': (x, axis) => tf.cumsum(x, axis, true),
  'cumsum, reverse': (x, axis) => tf.cumsum(x, axis, false, true),
  'cumsum, exclusive, reverse': (x, axis) => tf.cumsum(x, axis, true, true),
  cumprod: (x, axis) => tf.cumprod(x, axis),
  'cumprod, exclusive': (x, axis) => tf.cumprod(x, axis, true),
  'cumprod, reverse': (x, axis) => tf.cumprod(x, axis, false, true),
  'cumprod, exclusive, reverse': (x, axis) => tf.cumprod(x, axis, true, true),
};

const alongAxes: readonly WasmCase[] = Object.entries(AXIS).flatMap(([name, f]) =>
  DTYPES.flatMap((dtype) =>
    kinds(dtype).flatMap((kind) =>
      SHAPES.flatMap((shape, i) =>
        Array.from({ length: Math.max(1, shape.length) }, (_, axis) => ({
          name: `${name} of ${dtype} [${shape}], axis ${axis}, ${kind}`,
          f: (x: tf.Tensor) => f(x, axis),
          inputs: [input(shape, dtype, 500 + i, kind)],
        })),
      ),
    ),
  ),
);

const large32 = 2 ** 31 - 1;
const bigInts: readonly WasmCase[] = (['max', 'min', 'sum'] as const).map((name) => ({
  name: `${name} of large int32`,
  f: (x: tf.Tensor) => tf[name](x, 1),
  inputs: [numbers([2, 3], 'int32', [16_777_217, 5, 3, large32, -5, -9])],
}));

const first: readonly WasmCase[] = DTYPES.flatMap((dtype) =>
  kinds(dtype).flatMap((kind) =>
    [[5], [1], [3, 4], [0, 3], [2, 3, 4], [2, 1, 2, 5]].flatMap((shape, i) =>
      [0, 1, 2, 3]
        .filter((k) => k <= shape.at(-1)!)
        .flatMap((k) =>
          [true, false].map((sorted) => ({
            name: `topk ${k} of ${dtype} [${shape}]${sorted ? ', sorted' : ''}, ${kind}`,
            f: (x: tf.Tensor) => {
              const { values, indices } = tf.topk(x, k, sorted);
              return [values, indices];
            },
            inputs: [input(shape, dtype, 600 + i, kind)],
          })),
        ),
    ),
  ),
);

/** Reductions, and what goes along one axis. */
export const reductionCases: readonly WasmCase[] = [...reductions, ...alongAxes, ...bigInts, ...first];
