import { describe, expect, it } from 'vitest';
import { countOps, f32, graphOf, type Results, runGraph, someFeeds } from '../../test/run-graph';
import { constant, type Graph, GraphBuilder, indices, scalar, type Value, type ValueSpec } from '../graph';
import { onePerMember } from './one-per-member';
import { StackContext } from './stack-context';
import { stackGraph } from './stack-graph';

const MEMBERS = 3;

type Feeds = ReturnType<typeof someFeeds>;

/** The results of each member alone, from its part of the inputs, one behind the other. */
async function memberByMember(graph: Graph, feeds: Feeds): Promise<Results> {
  const results: Results[] = [];
  for (let member = 0; member < MEMBERS; member++) {
    const own = Object.entries(feeds).map(([name, data]) => {
      const size = data.length / MEMBERS;
      return [name, data.slice(member * size, (member + 1) * size)];
    });
    results.push(await runGraph(graph, Object.fromEntries(own)));
  }
  return Object.fromEntries(
    Object.entries(results[0]).map(([name, { shape }]) => {
      const data = results.flatMap((result) => result[name].data);
      return [name, { data, shape: [MEMBERS, ...shape] }];
    }),
  );
}

/** Runs a graph, and expects that what its nodes make has the shapes that they say. */
async function runTold(graph: Graph, feeds: Feeds): Promise<Results> {
  const known = new Set(graph.outputs.map(({ value }) => value));
  const inside = graph.nodes.flatMap(({ outputs }) => outputs).filter((value) => !known.has(value));
  const told = inside.map((value, i) => ({ name: `inside/${i}`, value }));
  const results = await runGraph({ ...graph, outputs: [...graph.outputs, ...told] }, feeds);
  for (const { name, value } of told) expect(results[name].shape, name).toEqual(value.shape);
  return Object.fromEntries(graph.outputs.map(({ name }) => [name, results[name]]));
}

function expectClose(got: Results, expected: Results): void {
  for (const [name, { data, shape }] of Object.entries(expected)) {
    expect(got[name].shape, name).toEqual(shape);
    data.forEach((x, i) => {
      const y = got[name].data[i];
      if (Number.isFinite(x)) expect(Math.abs(y - x), `${name}[${i}]`).toBeLessThan(1e-5 * Math.max(1, Math.abs(x)));
      else expect(y, `${name}[${i}]`).toBe(x);
    });
  }
}

type Inputs = Parameters<typeof graphOf>[0];
type Made = Value | Readonly<Record<string, Value>>;

/** Stacks a graph, expects of it what each member has alone, and returns how often each operation occurs. */
async function stacked(
  inputs: Inputs,
  make: (builder: GraphBuilder, x: Record<string, Value>) => Made,
): Promise<Record<string, number>> {
  const graph = graphOf(inputs, (builder, values) => {
    const made = make(builder, values);
    return 'dtype' in made ? { y: made as Value } : (made as Record<string, Value>);
  });
  const after = stackGraph(graph, MEMBERS);
  const feeds = someFeeds(after);
  expectClose(await runTold(after, feeds), await memberByMember(graph, feeds));
  return countOps(after);
}

const bool = (...shape: number[]): ValueSpec => ({ shape, dtype: 'bool' });
const int32 = (...shape: number[]): ValueSpec => ({ shape, dtype: 'int32' });

/** A constant of pairwise different numbers. */
function fixed(...shape: readonly number[]): Value {
  const size = shape.reduce((a, b) => a * b, 1);
  return constant(
    Float32Array.from({ length: size }, (_, i) => Math.cos(2.3 * i + 1)),
    shape,
    'float32',
  );
}

describe('operations of single numbers', () => {
  const unary = [
    ...['Abs', 'Acos', 'Acosh', 'Asin', 'Asinh', 'Atan', 'Atanh', 'Ceil', 'Cos', 'Cosh', 'Elu', 'Erf', 'Exp', 'Floor'],
    ...['HardSigmoid', 'Identity', 'LeakyRelu', 'Log', 'Neg', 'Reciprocal', 'Relu', 'Round', 'Selu', 'Sigmoid', 'Sign'],
    ...['Sin', 'Sinh', 'Softplus', 'Sqrt', 'Tan', 'Tanh'],
  ];
  const binary = ['Add', 'Sub', 'Mul', 'Div', 'Pow', 'Max', 'Min', 'Sum', 'Mean'];
  const comparisons = ['Equal', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual'];
  const logical = ['And', 'Or', 'Xor'];

  it('of one operand stay one node', async () => {
    const counts = await stacked({ x: f32(2, 5) }, (builder, { x }) => ({
      ...Object.fromEntries(unary.map((op) => [op, builder.op(op, [x], x)])),
      Gelu: builder.microsoft('Gelu', [x], x),
      IsNaN: builder.op('IsNaN', [builder.op('Sqrt', [x], x)], bool(2, 5)),
      IsInf: builder.op('IsInf', [x], bool(2, 5)),
      Cast: builder.op('Cast', [x], int32(2, 5), { to: 6 }),
      Not: builder.op('Not', [builder.op('Cast', [x], bool(2, 5), { to: 9 })], bool(2, 5)),
    }));
    for (const op of unary) expect(counts[op], op).toBe(op === 'Sqrt' ? 2 : 1);
    expect(counts['Reshape']).toBeUndefined();
  });

  const shapes: [string, number[], number[]][] = [
    ['equal shapes', [2, 4], [2, 4]],
    ['a number', [2, 4], []],
    ['a row', [2, 4], [4]],
    ['a column', [2, 4], [2, 1]],
    ['an operand of a higher rank', [4], [3, 2, 4]],
    ['operands that both are repeated', [2, 1], [1, 3, 1, 4]],
    ['numbers only', [], []],
  ];

  it.each(shapes)('of two operands stay one node: %s', async (_, a, b) => {
    const shape = [...Array<number>(Math.max(0, b.length - a.length)).fill(1), ...a].map((size, axis, all) =>
      Math.max(size, b[axis - all.length + b.length] ?? 1),
    );
    const counts = await stacked({ a, b, p: bool(...a), q: bool(...b) }, (builder, { a: x, b: y, p, q }) => ({
      ...Object.fromEntries(binary.map((op) => [op, builder.op(op, [x, y], f32(...shape))])),
      Mod: builder.op('Mod', [x, y], f32(...shape), { fmod: 1 }),
      ...Object.fromEntries(comparisons.map((op) => [op, builder.op(op, [x, y], bool(...shape))])),
      ...Object.fromEntries(logical.map((op) => [op, builder.op(op, [p, q], bool(...shape))])),
    }));
    for (const op of [...binary, 'Mod', ...comparisons, ...logical]) expect(counts[op], op).toBe(1);
    expect(Object.keys(counts)).not.toContain('Concat');
  });

  it.each(shapes)('have one operand in common: %s', async (_, a, b) => {
    const shape = [...Array<number>(Math.max(0, b.length - a.length)).fill(1), ...a].map((size, axis, all) =>
      Math.max(size, b[axis - all.length + b.length] ?? 1),
    );
    const counts = await stacked({ a, b }, (builder, { a: x, b: y }) => ({
      first: builder.op('Sub', [fixed(...a), y], f32(...shape)),
      second: builder.op('Div', [x, fixed(...b)], f32(...shape)),
      less: builder.op('Less', [x, fixed(...b)], bool(...shape)),
    }));
    expect(counts).toEqual({ Sub: 1, Div: 1, Less: 1, ...(counts['Reshape'] && { Reshape: counts['Reshape'] }) });
  });

  it('choose by a condition of another rank', async () => {
    const counts = await stacked({ if: bool(4), a: [2, 4], b: [] }, (builder, { if: condition, a, b }) => ({
      own: builder.op('Where', [condition, a, b], f32(2, 4)),
      common: builder.op('Where', [condition, fixed(2, 1), b], f32(2, 4)),
      mask: builder.op('Where', [constant(Uint8Array.of(1, 0, 1, 0), [4], 'bool'), a, b], f32(2, 4)),
    }));
    expect(counts['Where']).toBe(3);
  });

  it('scale negative numbers by slopes, each by its own', async () => {
    const counts = await stacked({ x: [2, 4], slopes: [4] }, (builder, { x, slopes }) => ({
      own: builder.op('PRelu', [x, slopes], x),
      common: builder.op('PRelu', [x, fixed(4)], x),
      numbers: builder.op('PRelu', [fixed(2, 4), slopes], x),
    }));
    expect(counts['PRelu']).toBe(3);
  });
});

describe('reductions', () => {
  const ops = ['ReduceSum', 'ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceProd', 'ReduceL2', 'ReduceSumSquare'];
  it.each<[string, number[] | undefined, number, number[]]>([
    ['the last axis, counted from the end', [-1], 0, [2, 3]],
    ['axes counted from both ends', [0, -2], 0, [4]],
    ['an axis that is kept', [1], 1, [2, 1, 4]],
    ['axes from the end that are kept', [-3, -1], 1, [1, 3, 1]],
    ['all axes, named', [0, 1, 2], 0, []],
    ['all axes, unnamed', undefined, 0, []],
    ['all axes, unnamed and kept', undefined, 1, [1, 1, 1]],
  ])('of %s', async (_, axes, keepdims, shape) => {
    const counts = await stacked({ x: [2, 3, 4] }, (builder, { x }) =>
      Object.fromEntries(
        ops.map((op) => [op, builder.op(op, axes ? [x, indices(axes)] : [x], f32(...shape), { keepdims })]),
      ),
    );
    expect(counts).toEqual(Object.fromEntries(ops.map((op) => [op, 1])));
  });
});

describe('shapes', () => {
  it('are changed behind the members', async () => {
    const counts = await stacked({ x: [2, 3, 4] }, (builder, { x }) => ({
      reshaped: builder.op('Reshape', [x, indices([4, 6])], f32(4, 6)),
      flat: builder.op('Reshape', [x, indices([-1])], f32(24)),
      transposed: builder.op('Transpose', [x], f32(4, 2, 3), { perm: [2, 0, 1] }),
      tiled: builder.op('Tile', [x, indices([2, 1, 3])], f32(4, 3, 12)),
    }));
    expect(counts).toEqual({ Reshape: 2, Transpose: 1, Tile: 1 });
  });

  it('are expanded, also to a higher rank', async () => {
    const counts = await stacked({ row: [4], column: [3, 1], number: [], same: [3, 4] }, (builder, inputs) =>
      Object.fromEntries(
        Object.entries(inputs).map(([name, x]) => [name, builder.op('Expand', [x, indices([2, 3, 4])], f32(2, 3, 4))]),
      ),
    );
    expect(counts['Expand']).toBe(4);
    expect(Object.keys(counts).sort()).toEqual(['Expand', 'Reshape']);
  });

  it('are cut', async () => {
    const slice = (builder: GraphBuilder, x: Value, bounds: number[][], ...shape: number[]) =>
      builder.op('Slice', [x, ...bounds.map((bound) => indices(bound))], f32(...shape));
    const counts = await stacked({ x: [5, 3, 4] }, (builder, { x }) => ({
      middle: slice(builder, x, [[1], [4], [0]], 3, 3, 4),
      last: slice(builder, x, [[-2], [9], [-1]], 5, 3, 2),
      steps: slice(
        builder,
        x,
        [
          [0, 1],
          [5, 3],
          [0, 2],
          [2, 1],
        ],
        3,
        3,
        2,
      ),
      backwards: slice(
        builder,
        x,
        [
          [-1, -1],
          [-9, -9],
          [0, -2],
          [-1, -2],
        ],
        5,
        2,
        4,
      ),
    }));
    expect(counts).toEqual({ Slice: 4 });
  });

  it('are cut member by member where the axes are not told', async () => {
    const counts = await stacked({ x: [5, 3] }, (builder, { x }) =>
      builder.op('Slice', [x, indices([1]), indices([3])], f32(2, 3)),
    );
    expect(counts).toMatchObject({ Slice: MEMBERS, Concat: 1 });
  });

  it.each([0, 1, -1])('are split and joined along axis %i', async (axis) => {
    const at = axis === -1 ? 2 : axis;
    const part = (size: number) => [4, 3, 5].map((whole, i) => (i === at ? size : whole));
    const size = [4, 3, 5][at];
    const counts = await stacked({ x: [4, 3, 5], z: [4, 3, 5] }, (builder, { x, z }) => {
      const sizes = indices([1, size - 1]);
      const [first, second] = builder.ops('Split', [x, sizes], [f32(...part(1)), f32(...part(size - 1))], { axis });
      const joined = f32(...part(2 * size));
      return {
        first: first,
        second: second,
        joined: builder.op('Concat', [second, z, first], joined, { axis }),
        common: builder.op('Concat', [x, fixed(4, 3, 5)], joined, { axis }),
      };
    });
    expect(counts).toEqual({ Split: 1, Concat: 2 });
  });

  it('are joined with what members have in common and is computed', async () => {
    const counts = await stacked({ x: [2, 3] }, (builder, { x }) => {
      const common = builder.op('Exp', [fixed(2, 1)], f32(2, 1));
      return builder.op('Concat', [common, x], f32(2, 4), { axis: 1 });
    });
    expect(counts).toEqual({ Exp: 1, Expand: 1, Concat: 1 });
  });
});

describe('operations along an axis', () => {
  it.each([0, 2, -1, -2])('%i', async (axis) => {
    const shape = [2, 3, 4].map((size, i) => (i === (axis + 3) % 3 ? 1 : size));
    const counts = await stacked({ x: [2, 3, 4] }, (builder, { x }) => ({
      softmax: builder.op('Softmax', [x], x, { axis }),
      logSoftmax: builder.op('LogSoftmax', [x], x, { axis }),
      argMax: builder.op('ArgMax', [x], { shape, dtype: 'int64' }, { axis, keepdims: 1 }),
      argMin: builder.op('ArgMin', [x], { shape: shape.filter((n) => n > 1), dtype: 'int64' }, { axis, keepdims: 0 }),
    }));
    expect(counts).toEqual({ Softmax: 1, LogSoftmax: 1, ArgMax: 1, ArgMin: 1 });
  });

  it('that is not told', async () => {
    await stacked({ x: [2, 4] }, (builder, { x }) => ({
      softmax: builder.op('Softmax', [x], x), // the last one
      argMax: builder.op('ArgMax', [x], { shape: [4], dtype: 'int64' }, { keepdims: 0 }), // the first one
      last: builder.ops('Split', [x, indices([1, 1])], [f32(1, 4), f32(1, 4)])[1], // the first one
    }));
  });
});

describe('Clip', () => {
  it('stays one node with bounds that all have', async () => {
    const counts = await stacked({ x: [2, 3] }, (builder, { x }) => ({
      both: builder.op('Clip', [x, scalar(-0.5), scalar(0.25)], x),
      upper: builder.op('Clip', [x, undefined, scalar(0)], x),
    }));
    expect(counts).toEqual({ Clip: 2 });
  });

  it('is done member by member with bounds of their own', async () => {
    const counts = await stacked({ x: [2, 3], low: [] }, (builder, { x, low }) =>
      builder.op('Clip', [x, low, undefined], x),
    );
    expect(counts['Clip']).toBe(MEMBERS);
  });
});

describe('products', () => {
  it.each<[string, number[], number[], number[]]>([
    ['matrices', [2, 3], [3, 4], [2, 4]],
    ['batches', [5, 2, 3], [5, 3, 4], [5, 2, 4]],
    ['a batch and a matrix', [5, 2, 3], [3, 4], [5, 2, 4]],
    ['a matrix and a batch', [2, 3], [5, 3, 4], [5, 2, 4]],
    ['batches of unequal ranks', [5, 2, 3], [6, 1, 3, 4], [6, 5, 2, 4]],
  ])('of %s', async (_, a, b, y) => {
    const swap = (shape: number[]) => [...shape.slice(0, -2), ...shape.slice(-2).reverse()];
    const counts = await stacked({ a, b, ta: swap(a), tb: swap(b) }, (builder, { a: x, b: z, ta, tb }) => ({
      own: builder.op('MatMul', [x, z], f32(...y)),
      left: builder.op('MatMul', [fixed(...a), z], f32(...y)),
      right: builder.op('MatMul', [x, fixed(...b)], f32(...y)),
      flags: builder.microsoft('FusedMatMul', [ta, tb], f32(...y), { transA: 1, transB: 1, alpha: { float: -0.5 } }),
      common: builder.microsoft('FusedMatMul', [ta, fixed(...b)], f32(...y), { transA: 1 }),
      first: builder.microsoft('FusedMatMul', [fixed(...a), tb], f32(...y), { transB: 1 }),
    }));
    expect(counts).toMatchObject({ MatMul: 3, FusedMatMul: 3 });
    expect(counts['Concat']).toBeUndefined();
  });

  it('of vectors are done member by member', async () => {
    const counts = await stacked({ a: [2, 3], v: [3] }, (builder, { a, v }) => builder.op('MatMul', [a, v], f32(2)));
    expect(counts['MatMul']).toBe(MEMBERS);
  });

  const flags = [0, 1].flatMap((transA) => [0, 1].map((transB) => [transA, transB] as const));
  it.each(flags)('by Gemm with transA %i, transB %i, alpha and a sum', async (transA, transB) => {
    const a = transA ? [3, 2] : [2, 3];
    const b = transB ? [4, 3] : [3, 4];
    const sums: Record<string, number[]> = { matrix: [2, 4], row: [4], rows: [1, 4], column: [2, 1], number: [] };
    const alpha = { float: 0.75 };
    const y = f32(2, 4);
    const counts = await stacked({ a, b, ...sums }, (builder, { a: x, b: z, ...cs }) => ({
      plain: builder.op('Gemm', [x, z], y, { transA, transB }),
      scaled: builder.op('Gemm', [x, z], y, { transA, transB, alpha }),
      ...Object.fromEntries(
        Object.entries(cs).map(([name, c]) => [name, builder.op('Gemm', [x, z, c], y, { transA, transB, alpha })]),
      ),
      left: builder.op('Gemm', [fixed(...a), z, fixed(4)], y, { transA, transB }),
      right: builder.op('Gemm', [x, fixed(...b), cs['row']], y, { transA, transB, alpha }),
    }));
    expect(counts['Gemm']).toBeUndefined();
    expect(counts['Concat']).toBeUndefined();
  });

  it('by Gemm that only differ in the sum are done member by member', async () => {
    const counts = await stacked({ c: [4] }, (builder, { c }) =>
      builder.op('Gemm', [fixed(2, 3), fixed(3, 4), c], f32(2, 4)),
    );
    expect(counts['Gemm']).toBe(MEMBERS);
  });

  it('by Gemm with beta are done member by member', async () => {
    const counts = await stacked({ a: [2, 3], b: [3, 4], c: [4] }, (builder, { a, b, c }) =>
      builder.op('Gemm', [a, b, c], f32(2, 4), { beta: { float: 0.5 } }),
    );
    expect(counts['Gemm']).toBe(MEMBERS);
  });
});

describe('operations without a rule', () => {
  it('are done member by member, with several outputs and inputs in common', async () => {
    const counts = await stacked({ x: [2, 5], i: int32(3) }, (builder, { x, i }) => {
      const [top, at] = builder.ops('TopK', [x, indices([2])], [f32(2, 2), { shape: [2, 2], dtype: 'int64' }]);
      const places = builder.op('Abs', [i], int32(3));
      return {
        top: top,
        at: at,
        sums: builder.op('CumSum', [x, scalar(1, 'int32')], x),
        rows: builder.op('Gather', [fixed(4, 2), places], f32(3, 2), { axis: 0 }),
      };
    });
    expect(counts).toMatchObject({ TopK: MEMBERS, CumSum: MEMBERS, Gather: MEMBERS, Abs: 1 });
  });

  it('may do so in place of any rule', async () => {
    const graph = graphOf({ x: [2, 3], low: [] }, (builder, { x, low }) => ({
      y: builder.op('Clip', [builder.op('Add', [x, fixed(3)], f32(2, 3)), low, undefined], f32(2, 3)),
    }));
    const after = stackGraph({ ...graph, nodes: [] }, MEMBERS); // inputs only
    const feeds = someFeeds(after);
    expectClose(await runTold(allApart(graph), feeds), await memberByMember(graph, feeds));
  });
});

/** A graph stacked without rules. */
function allApart(graph: Graph): Graph {
  const context = new StackContext(new GraphBuilder(), MEMBERS);
  const inputs = graph.inputs.map(({ name, value }) => {
    const own: Value = { shape: [MEMBERS, ...value.shape], dtype: value.dtype };
    context.set(value, own);
    return { name, value: own };
  });
  for (const node of graph.nodes) {
    onePerMember(node, context).forEach((value, i) => {
      context.set(node.outputs[i], value);
    });
  }
  const outputs = graph.outputs.map(({ name, value }) => ({ name, value: context.get(value) }));
  return { inputs, nodes: context.builder.nodes, outputs };
}

describe('what all members have in common', () => {
  it('is computed once, and repeated where it is a result', async () => {
    const counts = await stacked({ x: [2] }, (builder, { x }) => {
      const common = builder.op('Exp', [fixed(2)], f32(2));
      return { common, y: builder.op('Mul', [x, common], f32(2)), given: x, fixed: fixed(3) };
    });
    expect(counts).toEqual({ Exp: 1, Expand: 1, Mul: 1 });
  });
});
