import { describe, expect, it } from 'vitest';
import { constant, type GraphBuilder, indices, scalar, type Value } from '../src/graph';
import { measurePasses, optimiseGraph, passes } from '../src/passes';
import { commonSubexpressions } from '../src/passes/common-subexpressions';
import { deadNodes } from '../src/passes/dead-nodes';
import { foldConstants } from '../src/passes/fold-constants';
import { sinkTransposes } from '../src/passes/layout';
import { addedProducts, rowBiases, transposedOperands } from '../src/passes/products';
import { simplify } from '../src/passes/simplify';
import { countOps, f32, graphOf, keepsValues } from './run-graph';

const bool = (...shape: number[]) => ({ shape, dtype: 'bool' as const });
const tensor = (shape: readonly number[], start = 0.25) =>
  constant(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => start + i / 8),
    shape,
    'float32',
  );

describe('deadNodes', () => {
  it('takes out what no output needs, inputs of the function and of the state too', () => {
    const graph = graphOf({ x: [2], y: [2] }, (b, { x, y }) => {
      b.op('Exp', [b.op('Neg', [y], f32(2))], f32(2));
      return { z: b.op('Tanh', [x], f32(2)) };
    });
    const other = { name: 'other', value: { ...f32(1) } };
    const after = deadNodes({ ...graph, inputs: [...graph.inputs, { ...other, name: 'state/params/w' }, other] });
    expect(countOps(after)).toEqual({ Tanh: 1 });
    expect(after.inputs.map(({ name }) => name)).toEqual(['in/x', 'other']);
  });
});

describe('foldConstants', () => {
  const a = tensor([2, 3]);
  const row = tensor([3], -2);
  const cases: [string, (b: GraphBuilder) => Value][] = [
    ...['Add', 'Sub', 'Mul', 'Div', 'Max', 'Min', 'Sum'].map((op): [string, (b: GraphBuilder) => Value] => [
      op,
      (b) => b.op(op, [a, row], f32(2, 3)),
    ]),
    ...['Abs', 'Exp', 'Log', 'Neg', 'Reciprocal', 'Relu', 'Sigmoid', 'Sign', 'Sqrt', 'Tanh', 'Sin', 'Cos', 'Floor'].map(
      (op): [string, (b: GraphBuilder) => Value] => [op, (b) => b.op(op, [a], f32(2, 3))],
    ),
    ['Pow', (b) => b.op('Pow', [a, scalar(1.5)], f32(2, 3))],
    ['Clip', (b) => b.op('Clip', [a, scalar(0.4), scalar(0.6)], f32(2, 3))],
    ['Where', (b) => b.op('Where', [b.op('Less', [a, scalar(0.5)], bool(2, 3)), a, row], f32(2, 3))],
    ['Cast', (b) => b.op('Cast', [b.op('Cast', [row], { shape: [3], dtype: 'int32' }, { to: 6 })], f32(3), { to: 1 })],
    ['Transpose', (b) => b.op('Transpose', [tensor([2, 3, 4])], f32(4, 2, 3), { perm: [2, 0, 1] })],
    ['Reshape', (b) => b.op('Reshape', [a, indices([3, 2])], f32(3, 2))],
    ['Expand', (b) => b.op('Expand', [row, indices([2, 3])], f32(2, 3))],
    ['Concat', (b) => b.op('Concat', [a, tensor([2, 2])], f32(2, 5), { axis: 1 })],
    ['Slice', (b) => b.op('Slice', [a, indices([-2]), indices([3]), indices([1])], f32(2, 2))],
    ['Split', (b) => b.ops('Split', [a, indices([1, 2])], [f32(2, 1), f32(2, 2)], { axis: 1 })[1]!],
    ['ReduceSum', (b) => b.op('ReduceSum', [tensor([2, 3, 2]), indices([0, 2])], f32(3), { keepdims: 0 })],
    ['ReduceMean', (b) => b.op('ReduceMean', [a, indices([1])], f32(2, 1), { keepdims: 1 })],
    ['ReduceMax', (b) => b.op('ReduceMax', [a, indices([-1])], f32(2), { keepdims: 0 })],
  ];

  it.each(cases)('computes %s as the runtime does', async (_, make) => {
    const graph = graphOf({ x: [1] }, (b, { x }) => ({ y: make(b), x }));
    const after = await keepsValues(graph, foldConstants);
    expect(after.nodes).toEqual([]);
  });

  it('leaves large results to the runtime', () => {
    const graph = graphOf({}, (b) => ({ y: b.op('Expand', [scalar(1), indices([100, 100])], f32(100, 100)) }));
    expect(foldConstants(graph).nodes).toHaveLength(1);
  });
});

describe('commonSubexpressions', () => {
  it('merges equal nodes, also over equal constants and exchanged operands', async () => {
    const graph = graphOf({ x: [2, 2], y: [2, 2] }, (b, { x, y }) => {
      const sums = [b.op('Add', [x, y], f32(2, 2)), b.op('Add', [y, x], f32(2, 2))];
      const scaled = sums.map((sum) => b.op('Mul', [sum, tensor([2, 2])], f32(2, 2)));
      const turned = [
        [0, 1],
        [1, 0],
      ].map((perm, i) => b.op('Transpose', [scaled[i]!], f32(2, 2), { perm }));
      return { a: turned[0]!, b: turned[1]!, c: b.op('Sub', [x, y], f32(2, 2)), d: b.op('Sub', [y, x], f32(2, 2)) };
    });
    expect(countOps(await keepsValues(graph, commonSubexpressions))).toEqual({ Add: 1, Mul: 1, Transpose: 2, Sub: 2 });
  });

  it('keeps constants apart that differ in shape, dtype or the sign of zero', () => {
    const graph = graphOf({ x: [] }, (b, { x }) => ({
      a: b.op('Div', [x, scalar(0)], f32()),
      b: b.op('Div', [x, scalar(-0)], f32()),
      c: b.op('Div', [x, tensor([1], 0)], f32(1)),
    }));
    expect(commonSubexpressions(graph).nodes).toHaveLength(3);
  });
});

describe('simplify', () => {
  const X = f32(2, 3);
  const ones = constant(new Float32Array(6).fill(1), [2, 3], 'float32');
  const cases: [string, (b: GraphBuilder, x: Value, y: Value) => Value, Record<string, number>][] = [
    ['x + 0', (b, x) => b.op('Add', [x, scalar(0)], X), {}],
    ['0 + x', (b, x) => b.op('Add', [constant(new Float32Array(3), [3], 'float32'), x], X), {}],
    ['x - 0', (b, x) => b.op('Sub', [x, scalar(0)], X), {}],
    ['0 - x', (b, x) => b.op('Sub', [scalar(0), x], X), { Neg: 1 }],
    ['x * 1', (b, x) => b.op('Mul', [x, ones], X), {}],
    ['x / 1', (b, x) => b.op('Div', [x, scalar(1)], X), {}],
    ['x * -1', (b, x) => b.op('Mul', [scalar(-1), x], X), { Neg: 1 }],
    ['x ** 2', (b, x) => b.op('Pow', [x, scalar(2)], X), { Mul: 1 }],
    ['--x', (b, x) => b.op('Neg', [b.op('Neg', [x], X)], X), {}],
    ['x + -y', (b, x, y) => b.op('Add', [x, b.op('Neg', [y], X)], X), { Sub: 1 }],
    ['x - -y', (b, x, y) => b.op('Sub', [x, b.op('Neg', [y], X)], X), { Add: 1 }],
    ['-(x - y)', (b, x, y) => b.op('Neg', [b.op('Sub', [x, y], X)], X), { Sub: 1 }],
    ['-(x * 3)', (b, x) => b.op('Neg', [b.op('Mul', [x, scalar(3)], X)], X), { Mul: 1 }],
    [
      'x / 3 * 2 * 7',
      (b, x) => b.op('Mul', [b.op('Mul', [b.op('Div', [x, scalar(3)], X), scalar(2)], X), scalar(7)], X),
      { Mul: 1 },
    ],
    [
      'where(not c, x, y)',
      (b, x, y) => b.op('Where', [b.op('Not', [b.op('Less', [x, y], bool(2, 3))], bool(2, 3)), x, y], X),
      { Less: 1, Where: 1 },
    ],
    ['double reshape', (b, x) => b.op('Reshape', [b.op('Reshape', [x, indices([6])], f32(6)), indices([2, 3])], X), {}],
    [
      'double transpose',
      (b, x) => b.op('Transpose', [b.op('Transpose', [x], f32(3, 2), { perm: [1, 0] })], X, { perm: [1, 0] }),
      {},
    ],
    [
      'cast of bools',
      (b, x, y) =>
        b.op(
          'Cast',
          [b.op('Cast', [b.op('Less', [x, y], bool(2, 3))], { shape: [2, 3], dtype: 'int32' }, { to: 6 })],
          X,
          { to: 1 },
        ),
      { Less: 1, Cast: 1 },
    ],
    [
      'sum over nothing',
      (b, x) =>
        b.op('ReduceSum', [b.op('Reshape', [x, indices([2, 1, 3])], f32(2, 1, 3)), indices([1])], X, { keepdims: 0 }),
      {},
    ],
    [
      'a sum repeated and scaled',
      (b, x) => {
        const sum = b.op('ReduceSum', [x, indices([1])], f32(2, 1), { keepdims: 1 });
        return b.op('Mul', [b.op('Mul', [sum, ones], X), scalar(2)], X);
      },
      { ReduceSum: 1, Mul: 1, Expand: 1 },
    ],
    [
      'split and joined',
      (b, x) =>
        b.op('Concat', b.ops('Split', [x, indices([1, 2])], [f32(2, 1), f32(2, 2)], { axis: 1 }), X, { axis: 1 }),
      {},
    ],
    [
      'block of joined',
      (b, x, y) =>
        b.op('Slice', [b.op('Concat', [x, y], f32(4, 3), { axis: 0 }), indices([2]), indices([4]), indices([0])], X),
      {},
    ],
  ];

  it.each(cases)('%s', async (_, make, expected) => {
    const graph = graphOf({ x: [2, 3], y: [2, 3] }, (b, { x, y }) => ({ z: make(b, x, y) }));
    expect(countOps(await keepsValues(graph, simplify, simplify))).toEqual(expected);
  });

  it('splits what was joined', async () => {
    const graph = graphOf({ x: [2, 3], y: [2, 1] }, (b, { x, y }) => {
      const joined = b.op('Concat', [x, y], f32(2, 4), { axis: 1 });
      const [a, c] = b.ops('Split', [joined, indices([3, 1])], [f32(2, 3), f32(2, 1)], { axis: 1 });
      return { a: b.op('Exp', [a], f32(2, 3)), c: c! };
    });
    expect(countOps(await keepsValues(graph, simplify))).toEqual({ Exp: 1 });
  });

  it('makes log-softmax one node, and not of something that only looks like it', async () => {
    const written = (axis: number) =>
      graphOf({ x: [2, 3] }, (b, { x }) => {
        const shape = axis === 1 ? f32(2, 1) : f32(1, 3);
        const z = b.op('Sub', [x, b.op('ReduceMax', [x, indices([axis])], shape, { keepdims: 1 })], X);
        const sum = b.op('ReduceSum', [b.op('Exp', [z], X), indices([axis])], shape, { keepdims: 1 });
        return { y: b.op('Sub', [z, b.op('Log', [sum], shape)], X) };
      });
    expect(countOps(await keepsValues(written(1), simplify))).toEqual({ LogSoftmax: 1 });
    expect(countOps(await keepsValues(written(0), simplify))['LogSoftmax']).toBeUndefined();
  });

  it("drops the ones that tfjs multiplies a mean's gradient with", async () => {
    const graph = graphOf({ x: [2, 3], dy: [] }, (b, { x, dy }) => {
      const column = b.op('Reshape', [dy, indices([1, 1])], f32(1, 1));
      const repeated = b.op('Div', [b.op('Mul', [column, ones], X), scalar(6)], X);
      return { dx: b.op('Mul', [repeated, b.op('Mul', [x, scalar(2)], X)], X) };
    });
    const after = await keepsValues(graph, simplify, simplify);
    expect(countOps(after)).toEqual({ Reshape: 1, Mul: 3 });
    expect(after.nodes.filter(({ outputs }) => outputs[0]!.shape.includes(3))).toHaveLength(2);
  });

  it('leaves whole numbers and products that leave the range of float32 alone', async () => {
    const int = { shape: [2], dtype: 'int32' as const };
    const graph = graphOf({ n: int, x: [2] }, (b, { n, x }) => ({
      n: b.op('Div', [n, scalar(2, 'int32')], int),
      x: b.op('Mul', [b.op('Mul', [x, scalar(1e30)], f32(2)), scalar(1e30)], f32(2)),
    }));
    expect(countOps(await keepsValues(graph, simplify))).toEqual({ Div: 1, Mul: 2 });
  });
});

describe('products', () => {
  it('takes transposes into Gemm and FusedMatMul', async () => {
    const graph = graphOf({ a: [4, 2], b: [4, 3], c: [2, 4, 3], d: [2, 5, 3] }, (b, v) => ({
      plain: b.op('MatMul', [b.op('Transpose', [v['a']], f32(2, 4), { perm: [1, 0] }), v['b']], f32(2, 3)),
      batch: b.op('MatMul', [v['c'], b.op('Transpose', [v['d']], f32(2, 3, 5), { perm: [0, 2, 1] })], f32(2, 4, 5)),
    }));
    expect(countOps(await keepsValues(graph, transposedOperands))).toEqual({ Gemm: 1, FusedMatMul: 1 });
  });

  it('takes biases and added matrices into Gemm', async () => {
    const graph = graphOf({ a: [4, 2], b: [2, 3], row: [3], column: [4, 1], all: [4, 3] }, (b, v) => {
      const product = () => b.op('MatMul', [v['a'], v['b']], f32(4, 3));
      return {
        row: b.op('Add', [product(), v['row']], f32(4, 3)),
        all: b.op('Add', [v['all'], product()], f32(4, 3)),
        column: b.op('Add', [product(), v['column']], f32(4, 3)),
      };
    });
    expect(countOps(await keepsValues(graph, rowBiases))).toEqual({ Gemm: 1, MatMul: 2, Add: 2 });
    expect(countOps(await keepsValues(graph, rowBiases, addedProducts))).toEqual({ Gemm: 2, MatMul: 1, Add: 1 });
  });

  it('leaves a product alone that is read elsewhere too', () => {
    const graph = graphOf({ a: [2, 2], row: [2] }, (b, { a, row }) => {
      const product = b.op('MatMul', [a, a], f32(2, 2));
      return { product, sum: b.op('Add', [product, row], f32(2, 2)) };
    });
    expect(countOps(rowBiases(graph))).toEqual({ MatMul: 1, Add: 1 });
  });
});

describe('sinkTransposes', () => {
  const NCHW = f32(2, 3, 4, 5);
  const NHWC = f32(2, 4, 5, 3);
  const toNhwc = { perm: [0, 2, 3, 1] };
  const toNchw = { perm: [0, 3, 1, 2] };

  it('cancels transposes across biases, activations and their gradients', async () => {
    const graph = graphOf({ x: NCHW, dy: NCHW, bias: [3] }, (b, { x, dy, bias }) => {
      const biased = b.op('Add', [b.op('Transpose', [x], NHWC, toNhwc), bias], NHWC);
      const y = b.op('Clip', [b.op('Tanh', [biased], NHWC), scalar(-0.5), scalar(0.5)], NHWC);
      const dx = b.op('Mul', [b.op('Transpose', [dy], NHWC, toNhwc), y], NHWC);
      return {
        y: b.op('Transpose', [y], NCHW, toNchw),
        dx: b.op('Transpose', [dx], NCHW, toNchw),
        bias: b.op('ReduceSum', [dx, indices([0, 1, 2])], f32(3), { keepdims: 0 }),
        kept: b.op('ReduceMax', [dx, indices([1, 2])], f32(2, 1, 1, 3), { keepdims: 1 }),
      };
    });
    const after = await keepsValues(graph, sinkTransposes, simplify);
    expect(countOps(after)['Transpose']).toBeUndefined();
  });

  it('carries them past Concat, Slice and reductions that leave several axes', async () => {
    const graph = graphOf({ x: NCHW, y: NCHW }, (b, { x, y }) => {
      const turned = [x, y].map((value) => b.op('Transpose', [value], NHWC, toNhwc));
      const joined = b.op('Concat', turned, f32(2, 4, 10, 3), { axis: 2 });
      const block = b.op('Slice', [joined, indices([1, 2]), indices([3, 9]), indices([-3, 2])], f32(2, 2, 7, 3));
      return { sum: b.op('ReduceSum', [block, indices([0, 1])], f32(7, 3), { keepdims: 0 }) };
    });
    const after = await keepsValues(graph, sinkTransposes);
    expect(after.nodes.map(({ op }) => op)).toEqual(['Concat', 'Slice', 'ReduceSum', 'Transpose']);
  });

  it('stops at an operand that would have to be copied', async () => {
    const graph = graphOf({ x: NCHW, y: NHWC }, (b, { x, y }) => ({
      z: b.op('Add', [b.op('Transpose', [x], NHWC, toNhwc), y], NHWC),
    }));
    expect(countOps(await keepsValues(graph, sinkTransposes))).toEqual({ Transpose: 1, Add: 1 });
  });
});

describe('all passes', () => {
  it('are measured one by one', () => {
    const graph = graphOf({ x: [2] }, (b, { x }) => ({ y: b.op('Neg', [b.op('Neg', [x], f32(2))], f32(2)) }));
    let now = 0;
    const measures = measurePasses(graph, () => now++);
    expect(measures.map(({ name }) => name)).toEqual(['traced', ...passes.map(({ name }) => name)]);
    expect(measures[0]).toMatchObject({ nodes: 2, time: 0 });
    expect(measures.at(-1)).toMatchObject({ nodes: 0, time: 1 });
    expect(measures.at(-1)!.bytes).toBeLessThan(measures[0]!.bytes);
    expect(optimiseGraph(graph).nodes).toEqual([]);
  });
});
