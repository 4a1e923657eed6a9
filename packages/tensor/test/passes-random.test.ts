import fc from 'fast-check';
import { describe, it } from 'vitest';
import { constant, type GraphBuilder, indices, scalar, type Value } from '../src/graph';
import { optimiseGraph } from '../src/passes';
import { f32, graphOf, keepsValues } from './run-graph';

const zeros = constant(new Float32Array(6), [2, 3], 'float32');
const ones = constant(new Float32Array(6).fill(1), [2, 3], 'float32');
const X = f32(2, 3);

type Make = (b: GraphBuilder, x: Value, y: Value) => Value;
const unary =
  (op: string): Make =>
  (b, x) =>
    b.op(op, [x], X);
const binary =
  (op: string): Make =>
  (b, x, y) =>
    b.op(op, [x, y], X);
const withScalar =
  (op: string, number: number): Make =>
  (b, x) =>
    b.op(op, [x, scalar(number)], X);

/** Each makes a value [2, 3] out of two. */
const STEPS: readonly Make[] = [
  ...['Neg', 'Tanh', 'Sigmoid', 'Relu', 'Abs'].map(unary),
  ...['Add', 'Sub', 'Mul', 'Max', 'Min'].map(binary),
  withScalar('Mul', 1),
  withScalar('Mul', -1),
  withScalar('Mul', 0.3),
  withScalar('Div', 3),
  withScalar('Add', 0),
  withScalar('Pow', 2),
  (b, x) => b.op('Sub', [ones, x], X),
  (b, x) => b.op('Sub', [zeros, x], X),
  (b, x) => b.op('Add', [x, zeros], X),
  (b, x, y) => b.op('Where', [b.op('Less', [x, y], { shape: [2, 3], dtype: 'bool' }), y, x], X),
  (b, x, y) => turn(b, b.op('Add', [turn(b, x), turn(b, y)], f32(3, 2)), [2, 3]),
  (b, x) => turn(b, b.op('Reshape', [x, indices([3, 2])], f32(3, 2)), [2, 3]),
  (b, x) => b.op('Mul', [b.op('ReduceSum', [x, indices([1])], f32(2, 1), { keepdims: 1 }), ones], X),
  (b, x, y) => b.op('Add', [b.op('ReduceMean', [x, indices([0, 1])], f32(), { keepdims: 0 }), y], X),
  (b, x, y) => b.op('MatMul', [b.op('MatMul', [x, turn(b, y)], f32(2, 2)), y], X),
  (b, x, y) => b.op('Gemm', [y, b.op('Gemm', [x, y], f32(3, 3), { transA: 1 })], X),
  (b, x, y) =>
    b.op('Slice', [b.op('Concat', [x, y], f32(2, 6), { axis: 1 }), indices([2]), indices([5]), indices([1])], X),
  (b, x, y) => {
    const [left, right] = b.ops('Split', [b.op('Concat', [x, y], f32(4, 3), { axis: 0 }), indices([2, 2])], [X, X], {
      axis: 0,
    });
    return b.op('Sub', [right, left], X);
  },
  (b, x) => {
    const [left, right] = b.ops('Split', [x, indices([1, 2])], [f32(2, 1), f32(2, 2)], { axis: 1 });
    return b.op('Concat', [right, left], X, { axis: 1 });
  },
];

function turn(b: GraphBuilder, x: Value, shape: readonly number[] = [3, 2]): Value {
  return b.op('Transpose', [x], f32(...shape), { perm: [1, 0] });
}

const program = fc.array(fc.tuple(fc.nat(STEPS.length - 1), fc.nat(), fc.nat()), { minLength: 1, maxLength: 14 });

/** Keeps magnitudes near 1, so that absolute differences mean something. */
function tame(b: GraphBuilder, x: Value): Value {
  return b.op('Clip', [x, scalar(-2), scalar(2)], X);
}

function run(b: GraphBuilder, start: readonly Value[], steps: readonly (readonly [number, number, number])[]): Value[] {
  const values = [...start];
  for (const [step, i, j] of steps) {
    values.push(tame(b, STEPS[step]!(b, values[i % values.length]!, values[j % values.length]!)));
  }
  return values;
}

describe('all passes together', () => {
  it('keep the values of random graphs', async () => {
    const property = fc.asyncProperty(program, async (steps) => {
      const graph = graphOf({ x: [2, 3], y: [2, 3] }, (b, { x, y }) => {
        const values = run(b, [x!, y!], steps);
        return { last: values.at(-1)!, middle: values[values.length >> 1]! };
      });
      await keepsValues(graph, optimiseGraph);
    });
    await fc.assert(property, { seed: 4, numRuns: 60 });
  });

  it('keep the values of random recurrences', { tags: ['slow'] }, async () => {
    const property = fc.asyncProperty(program, program, async (forward, back) => {
      const graph = graphOf({ x: [2, 3], y: [2, 3], xs: [20, 3] }, (b, { x, y, xs }) => {
        const parts = b.ops('Split', [xs, indices(Array(10).fill(2))], Array(10).fill(X), { axis: 0 });
        const states = [x!];
        for (const part of parts) states.push(run(b, [states.at(-1)!, part, y!], forward).at(-1)!);
        const slopes: Value[] = [y!];
        for (const state of [...states].reverse()) slopes.push(run(b, [slopes.at(-1)!, state], back).at(-1)!);
        const mean = (value: Value) => b.op('ReduceMean', [value, indices([0, 1])], f32(), { keepdims: 0 });
        const loss = states.map(mean).reduce((sum, term) => b.op('Add', [sum, term], f32()));
        return { all: b.op('Concat', slopes, f32(2 * slopes.length, 3), { axis: 0 }), loss };
      });
      await keepsValues(graph, optimiseGraph);
    });
    await fc.assert(property, { seed: 5, numRuns: 60 });
  });
});
