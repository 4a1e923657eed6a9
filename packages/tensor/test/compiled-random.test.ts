import { tf } from '@coplay/tensor';
import fc from 'fast-check';
import { it } from 'vitest';
import { expectParity, floats, weighted } from './compiled';

/** Every value in a random graph is [2, 3] or, for `row`, [3]; functions stay finite for numbers of moderate size. */
type Unary = (x: tf.Tensor) => tf.Tensor;
type Binary = (x: tf.Tensor, y: tf.Tensor) => tf.Tensor;

const squash: Unary = (x) => tf.mul(tf.tanh(x), 2);

const UNARY: Readonly<Record<string, Unary>> = {
  neg: tf.neg,
  exp: (x) => tf.exp(tf.tanh(x)),
  log: (x) => tf.log(tf.add(tf.abs(x), 0.5)),
  log1p: (x) => tf.log1p(tf.square(x)),
  expm1: (x) => tf.expm1(tf.tanh(x)),
  sqrt: (x) => tf.sqrt(tf.add(tf.square(x), 0.1)),
  rsqrt: (x) => tf.rsqrt(tf.add(tf.square(x), 0.3)),
  reciprocal: (x) => tf.reciprocal(tf.add(tf.square(x), 0.5)),
  square: (x) => tf.square(squash(x)),
  sigmoid: tf.sigmoid,
  tanh: tf.tanh,
  softplus: tf.softplus,
  elu: tf.elu,
  selu: tf.selu,
  sin: tf.sin,
  cos: tf.cos,
  erf: tf.erf,
  atan: tf.atan,
  softmax: (x) => tf.softmax(x),
  logSoftmax: (x) => tf.logSoftmax(x),
  'sum, axis 0': (x) => tf.add(x, tf.sum(x, 0)),
  'mean, axis 1': (x) => tf.sub(x, tf.mean(x, 1, true)),
  'prod, axis 1': (x) => tf.add(x, tf.prod(squash(x), 1, true)),
  logSumExp: (x) => tf.sub(x, tf.logSumExp(x, 1, true)),
  norm: (x) => tf.div(x, tf.add(tf.norm(x, 2, 1, true), 1)),
  transposed: (x) => tf.reshape(tf.transpose(x), [2, 3]),
  reverse: (x) => tf.reverse(x, 1),
  'cumsum, axis 0': (x) => tf.cumsum(x, 0),
  'cumsum, exclusive, reverse': (x) => tf.cumsum(x, 1, true, true),
  'slice, pad': (x) =>
    tf.pad(tf.slice(x, [0, 1], [2, 2]), [
      [0, 0],
      [1, 0],
    ]),
  'gather rows': (x) => tf.gather(x, tf.tensor1d([1, 1], 'int32')),
  'gather columns': (x) => tf.gather(x, tf.tensor1d([2, 0, 2], 'int32'), 1),
  segments: (x) => tf.unsortedSegmentSum(x, tf.tensor1d([1, 1], 'int32'), 2),
  split: (x) => tf.concat(tf.split(x, [2, 1], 1).reverse(), 1),
  unstack: (x) => tf.stack(tf.unstack(x, 0).reverse()),
  tile: (x) => tf.slice(tf.tile(x, [2, 1]), [1, 0], [2, 3]),
  'batch norm': (x) => {
    const { mean, variance } = tf.moments(x, 0);
    const above = tf.add(variance, 0.1) as tf.Tensor1D;
    // Without a scale tfjs's gradient fails.
    return tf.batchNorm(x as tf.Tensor2D, mean as tf.Tensor1D, above, tf.zeros([3]), tf.ones([3]));
  },
  pool: (x) => tf.reshape(tf.avgPool(tf.reshape(x, [1, 2, 3, 1]) as tf.Tensor4D, 2, 1, 'same'), [2, 3]),
};

const BINARY: Readonly<Record<string, Binary>> = {
  add: tf.add,
  sub: tf.sub,
  mul: (x, y) => tf.mul(squash(x), y),
  div: (x, y) => tf.div(x, tf.add(tf.square(y), 0.5)),
  squaredDifference: (x, y) => tf.squaredDifference(squash(x), squash(y)),
  atan2: (x, y) => tf.atan2(x, tf.add(tf.square(y), 0.3)),
  'matMul NT': (x, y) => tf.matMul(tf.matMul(x, squash(y), false, true), x),
  'matMul TN': (x, y) => tf.matMul(squash(y), tf.matMul(x, squash(y), true)),
  'row, broadcast': (x, y) => tf.add(x, tf.sum(y, 0)),
  'column, broadcast': (x, y) => tf.mul(x, tf.tanh(tf.mean(y, 1, true))),
  // Chosen by fixed masks: where kinks lie near numbers that differ by rounding, both sides would be right.
  where: (x, y) =>
    tf.where(
      tf.tensor2d(
        [
          [1, 0, 1],
          [0, 0, 1],
        ],
        [2, 3],
        'bool',
      ),
      x,
      y,
    ),
  concat: (x, y) => tf.slice(tf.concat([x, y], 1), [0, 2], [2, 3]),
};

/** A step makes a value out of one or two that are there already, taken modulo their number. */
interface Step {
  readonly op: string;
  readonly left: number;
  readonly right: number;
}

function evaluate(steps: readonly Step[], inputs: readonly tf.Tensor[]): tf.Tensor {
  const values = [...inputs];
  for (const { op, left, right } of steps) {
    const [x, y] = [left, right].map((index) => values[values.length - 1 - (index % values.length)]!);
    values.push(Object.hasOwn(UNARY, op) ? UNARY[op]!(x!) : BINARY[op]!(x!, y!));
  }
  // Everything matters, and nothing grows beyond bounds.
  const weighed = values.map((value, i) => tf.mul(value, i < inputs.length ? 0.1 : 1));
  return tf.tanh(tf.addN(weighed));
}

const step = fc.record({
  op: fc.constantFrom(...Object.keys(UNARY), ...Object.keys(BINARY)),
  left: fc.nat(6),
  right: fc.nat(6),
});
const numbers = fc.array(
  fc.integer({ min: -20, max: 20 }).map((n) => n / 10 + 0.03),
  { minLength: 6, maxLength: 6 },
);

it('random graphs have the values and gradients that eager execution has', {
  tags: ['slow'],
  timeout: 120_000,
}, async () => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 1, maxLength: 8 }),
    fc.tuple(numbers, numbers),
    async (steps, data) => {
      const loss = (...x: tf.Tensor[]) => evaluate(steps, x);
      const f = (...x: tf.Tensor[]) => {
        const y = loss(...x);
        const gradients = tf.grads((...z: tf.Tensor[]) => weighted(loss(...z)))(x);
        return [y, ...gradients];
      };
      await expectParity({ f, args: data.map((values) => floats(values, [2, 3])) }, 2e-5);
    },
  );
  await fc.assert(property, { numRuns: 120, seed: 4, includeErrorInReport: true });
});
