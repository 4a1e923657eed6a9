import { describe, expect, it } from 'vitest';
import { type Graph, type GraphBuilder, indices, type Node, scalar, type Value } from '../src/graph';
import { optimiseGraph } from '../src/passes';
import { commonSubexpressions } from '../src/passes/common-subexpressions';
import {
  batchedProducts,
  batchedSteps,
  joinedNodes,
  knownFactors,
  productsOfParts,
  splitProducts,
  stackedRows,
  sumsOfProducts,
} from '../src/passes/recurrence';
import { inOrder } from '../src/passes/recurrence/order';
import { stepClasses } from '../src/passes/recurrence/step-classes';
import { simplify } from '../src/passes/simplify';
import { countOps, f32, graphOf, keepsValues } from './run-graph';

/** Steps of the recurrences here. */
const T = 5;
const steps = [...Array(T).keys()];
const perStep = (name: string, shape: readonly number[]) =>
  Object.fromEntries(steps.map((t) => [`${name}${t}`, shape])) as Record<string, readonly number[]>;
const valuesOf = (inputs: Record<string, Value>, name: string) => steps.map((t) => inputs[`${name}${t}`]!);
const addUp = (b: GraphBuilder, terms: readonly Value[]) =>
  terms.reduce((sum, term) => b.op('Add', [sum, term], { shape: term.shape, dtype: term.dtype }));

describe('stepClasses', () => {
  const tanhs = (b: GraphBuilder, x: Value, count: number) => {
    const made = [x];
    for (let t = 0; t < count; t++) made.push(b.op('Tanh', [made.at(-1)!], x));
    return made.slice(1);
  };

  it('tell steps that depend on each other from others, and what depends on any of them', () => {
    const made: Value[] = [];
    const graph = graphOf({ x: [2], parts: [10, 3] }, (b, { x, parts }) => {
      const chain = tanhs(b, x!, 14);
      const cut = b.ops('Split', [parts!, indices(Array(10).fill(1))], Array(10).fill(f32(1, 3)), { axis: 0 });
      const free = cut.map((part) => b.op('Tanh', [part], part));
      const joined = b.op('Concat', free, f32(10, 3), { axis: 0 });
      made.push(
        chain.at(-1)!,
        free[0]!,
        b.op('Neg', [chain.at(-1)!], x!),
        b.op('Neg', [joined], joined),
        b.op('Neg', [x!], x!),
      );
      return Object.fromEntries(made.map((value, i) => [`y${i}`, value]));
    });
    const [last, free, afterLast, afterFree, neither] = made as [Value, Value, Value, Value, Value];
    const classes = stepClasses(graph);
    const classOf = (value: Value) => classes.get(graph.nodes.find(({ outputs }) => outputs[0] === value)!)!;
    expect(classOf(last).isRecurrent).toBe(true);
    expect(classOf(free).isRecurrent).toBe(false);
    expect(classOf(free).members).toHaveLength(10);
    const answers = [last, free].map((value) => [afterLast, afterFree, neither].map((y) => classOf(value).reaches(y)));
    expect(answers).toEqual([
      [true, false, false],
      [false, true, false],
    ]);
  });
});

describe('productsOfParts', () => {
  const [rows, K, N] = [4, 6, 3];
  /** Joined rows of all steps, and what is made of them. */
  const joined = (make: (b: GraphBuilder, x: Value, values: Record<string, Value>) => Record<string, Value>) =>
    graphOf({ ...perStep('x', [rows, K]), w: [K, N], v: [N, K], bias: [N], d: [T * rows, N] }, (b, values) =>
      make(b, b.op('Concat', valuesOf(values, 'x'), f32(T * rows, K), { axis: 0 }), values),
    );
  const undoes = (graph: Graph) => keepsValues(graph, (given) => productsOfParts(given, T * rows * K));

  it('multiplies part by part, forward and for the gradient of the matrix', async () => {
    const graph = joined((b, x, { w, v, bias, d }) => ({
      plain: b.op('MatMul', [x, w], f32(T * rows, N)),
      biased: b.op('Gemm', [x, v, bias], f32(T * rows, N), { transB: 1 }),
      gradient: b.op('Gemm', [x, d], f32(K, N), { transA: 1 }),
    }));
    expect(countOps(await undoes(graph))).toEqual({ Concat: 2, MatMul: T, Gemm: 2 * T, Split: 1 });
  });

  it('finds the products again that a recurrence has made', async () => {
    const graph = joined((b, x, values) => {
      const { w, bias } = values;
      const made = valuesOf(values, 'x').map((part) =>
        b.op('Gemm', [part, w, bias], f32(rows, N), { transA: 0, transB: 0 }),
      );
      return { all: b.op('Gemm', [x, w, bias], f32(T * rows, N), { transA: 0, transB: 0 }), sum: addUp(b, made) };
    });
    expect(countOps(commonSubexpressions(await undoes(graph)))).toEqual({ Concat: 1, Gemm: T, Add: T - 1 });
  });

  it.each<[string, Parameters<typeof joined>[0]]>([
    [
      'is read by something else, too',
      (b, x, { w }) => ({ y: b.op('MatMul', [x, w], f32(T * rows, N)), z: b.op('Neg', [x], x) }),
    ],
    ['is a result', (b, x, { w }) => ({ y: b.op('MatMul', [x, w], f32(T * rows, N)), x })],
    ['gives something as large', (b, x) => ({ y: b.op('Gemm', [x, x], f32(T * rows, T * rows), { transB: 1 }) })],
    ['gets a matrix added', (b, x, { w, d }) => ({ y: b.op('Gemm', [x, w, d], f32(T * rows, N), {}) })],
    ['is scaled', (b, x, { w }) => ({ y: b.op('Gemm', [x, w], f32(T * rows, N), { alpha: { float: 2 } }) })],
    ['is the right operand', (b, x, { d }) => ({ y: b.op('Gemm', [d, x], f32(N, K), { transA: 1 }) })],
  ])('leaves a join alone that %s', async (_, make) => {
    const graph = joined(make);
    expect(countOps(await undoes(graph))).toEqual(countOps(graph));
  });

  it('leaves small joins alone', async () => {
    const graph = joined((b, x, { w }) => ({ y: b.op('MatMul', [x, w], f32(T * rows, N)) }));
    expect(countOps(await keepsValues(graph, (given) => productsOfParts(given, T * rows * K + 1)))).toEqual(
      countOps(graph),
    );
    expect(countOps(productsOfParts(graph))).toEqual(countOps(graph));
  });
});

describe('sumsOfProducts', () => {
  it('makes one product of the gradients of a weight', async () => {
    const inputs = { ...perStep('a', [2, 3]), ...perStep('b', [2, 4]), other: [3, 4] };
    const graph = graphOf(inputs, (b, values) => {
      const [as, bs] = [valuesOf(values, 'a'), valuesOf(values, 'b')];
      const products = steps.map((t) => b.op('Gemm', [as[t], bs[t]], f32(3, 4), { transA: 1 }));
      return { sum: addUp(b, [...products.slice(0, 2), values['other']!, ...products.slice(2)]) };
    });
    const after = await keepsValues(graph, sumsOfProducts);
    expect(countOps(after)).toEqual({ Concat: 2, Gemm: 1, Add: 1 });
  });

  it('leaves a product alone that is read elsewhere, and large ones', async () => {
    const graph = graphOf({ a: [2, 3], b: [2, 3], c: [600, 2], d: [600, 40] }, (b, { a, b: other, c, d }) => {
      const square = b.op('Gemm', [a, a], f32(3, 3), { transA: 1 });
      const large = () => b.op('Gemm', [c, d], f32(2, 40), { transA: 1 });
      const sum = addUp(b, [square, b.op('Gemm', [other, a], f32(3, 3), { transA: 1 })]);
      return { square, sum, large: addUp(b, [large(), large()]) };
    });
    expect(countOps(await keepsValues(graph, sumsOfProducts))).toEqual({ Gemm: 4, Add: 2 });
  });

  it('makes one reduction of row sums, and of means', async () => {
    const inputs = { ...perStep('x', [2, 3]), ...perStep('y', [4, 2]) };
    const graph = graphOf(inputs, (b, values) => {
      const sums = valuesOf(values, 'x').map((x) => b.op('ReduceSum', [x, indices([0])], f32(3), { keepdims: 0 }));
      const means = valuesOf(values, 'y').map((y) => b.op('ReduceMean', [y, indices([0, 1])], f32(), { keepdims: 0 }));
      return { bias: addUp(b, sums), loss: addUp(b, means) };
    });
    const after = await keepsValues(graph, sumsOfProducts);
    expect(countOps(after)).toEqual({ Concat: 2, ReduceSum: 2, Mul: 1 });
  });
});

describe('stackedRows', () => {
  it('cuts and joins rows instead of stacking slices', async () => {
    const graph = graphOf({ xs: [2, T, 3] }, (b, { xs }) => {
      const slices = b.ops(
        'Split',
        [xs, indices(steps.map(() => 1))],
        steps.map(() => f32(2, 1, 3)),
        { axis: 1 },
      );
      const parts = slices.map((slice) => b.op('Reshape', [slice, indices([2, 3])], f32(2, 3)));
      const made = parts.map((part) => b.op('Tanh', [part], f32(2, 3)));
      const stacked = made.map((part) => b.op('Reshape', [part, indices([2, 1, 3])], f32(2, 1, 3)));
      return { ys: b.op('Concat', stacked, f32(2, T, 3), { axis: 1 }) };
    });
    const after = await keepsValues(graph, stackedRows, simplify);
    expect(countOps(after)).toEqual({ Transpose: 2, Reshape: 2, Split: 1, Tanh: T, Concat: 1 });
    const joined = await keepsValues(after, joinedNodes, simplify);
    expect(countOps(joined)).toMatchObject({ Tanh: 1 });
    expect(countOps(joined)['Split']).toBeUndefined();
  });
});

describe('splitProducts and batchedProducts', () => {
  const graph = graphOf({ xs: [T * 2, 3], w: [7, 4], bias: [4], h: [2, 4] }, (b, { xs, w, bias, h }) => {
    const parts = b.ops(
      'Split',
      [xs, indices(steps.map(() => 2))],
      steps.map(() => f32(2, 3)),
      { axis: 0 },
    );
    let state = h!;
    for (const part of parts) {
      const joined = b.op('Concat', [part, state], f32(2, 7), { axis: 1 });
      state = b.op('Tanh', [b.op('Gemm', [joined, w, bias], f32(2, 4))], f32(2, 4));
    }
    return { state };
  });

  it('compute the input half of a recurrence at once', async () => {
    const after = await keepsValues(graph, splitProducts, commonSubexpressions, batchedProducts);
    const products = after.nodes.filter(({ op }) => op === 'Gemm');
    expect(products.map(({ outputs }) => outputs[0]!.shape)).toEqual([[T * 2, 4], ...steps.map(() => [2, 4])]);
    expect(countOps(after)['Concat']).toBeUndefined();
  });

  it('compute only what is read of the gradient of the joined operand', async () => {
    const back = graphOf({ dy: [2, 4], w: [7, 4] }, (b, { dy, w }) => {
      const both = b.op('Gemm', [dy, w], f32(2, 7), { transB: 1 });
      return { dh: b.ops('Split', [both, indices([3, 4])], [f32(2, 3), f32(2, 4)], { axis: 1 })[1]! };
    });
    const after = await keepsValues(back, splitProducts);
    expect(after.nodes.map(({ op, outputs }) => [op, ...outputs[0]!.shape])).toEqual([
      ['Slice', 4, 4],
      ['Gemm', 2, 4],
    ]);
  });
});

describe('joinedNodes', () => {
  it('leaves reductions of rows of different widths apart', async () => {
    const graph = graphOf({ x: [2, 3], y: [2, 4] }, (b, { x, y }) => {
      const largest = [x, y].map((rows) => b.op('ReduceMax', [rows, indices([1])], f32(2), { keepdims: 0 }));
      return { all: b.op('Concat', largest, f32(4), { axis: 0 }) };
    });
    expect(countOps(await keepsValues(graph, joinedNodes))).toEqual({ ReduceMax: 2, Concat: 1 });
  });

  it('does row by row work once for all rows', async () => {
    const inputs = { ...perStep('x', [2, 3]), ...perStep('y', [2, 3]), w: [3, 4], row: [4] };
    const graph = graphOf(inputs, (b, values) => {
      const ys = valuesOf(values, 'y');
      const made = valuesOf(values, 'x').map((x, t) => {
        const sum = b.op('Add', [b.op('Mul', [x, scalar(2)], f32(2, 3)), ys[t]], f32(2, 3));
        const product = b.op('Gemm', [sum, values['w'], values['row']], f32(2, 4));
        return b.op(
          'Concat',
          [product, b.op('ReduceMax', [product, indices([1])], f32(2, 1), { keepdims: 1 })],
          f32(2, 5),
          { axis: 1 },
        );
      });
      return { all: b.op('Concat', made, f32(2 * T, 5), { axis: 0 }) };
    });
    const single = graphOf(inputs, (b, values) => ({ y: b.op('Exp', [values['x0']], f32(2, 3)) }));
    expect(joinedNodes(single)).toEqual(single);
    const after = await keepsValues(graph, commonSubexpressions, joinedNodes);
    // The product is read twice, so it stays per step; what comes after it doesn't.
    expect(countOps(after)).toMatchObject({ Gemm: T, ReduceMax: 1 });
  });

  it('joins softmaxes and changes of shape that keep rows', async () => {
    const graph = graphOf(perStep('x', [2, 6]), (b, values) => {
      const made = valuesOf(values, 'x').map((x) =>
        b.op('LogSoftmax', [b.op('Reshape', [x, indices([2, 2, 3])], f32(2, 2, 3))], f32(2, 2, 3), { axis: -1 }),
      );
      return { all: b.op('Concat', made, f32(2 * T, 2, 3), { axis: 0 }) };
    });
    const after = await keepsValues(graph, commonSubexpressions, joinedNodes);
    expect(countOps(after)).toEqual({ Concat: 1, Reshape: 1, LogSoftmax: 1 });
  });

  it('leaves rows alone that are read one by one, and operands that differ', async () => {
    const graph = graphOf(perStep('x', [2, 3]), (b, values) => {
      const made = valuesOf(values, 'x').map((x, t) => b.op('Mul', [x, scalar(t + 2)], f32(2, 3)));
      const read = valuesOf(values, 'x').map((x) => b.op('Exp', [x], f32(2, 3)));
      return {
        a: b.op('Concat', made, f32(2 * T, 3), { axis: 0 }),
        b: b.op('Concat', read, f32(2 * T, 3), { axis: 0 }),
        c: addUp(b, read),
      };
    });
    expect(countOps(await keepsValues(graph, joinedNodes))).toMatchObject({ Mul: T, Exp: T });
  });
});

describe('a recurrence that is unrolled', () => {
  it('keeps few nodes per step, and its size grows with its length alone', { tags: ['slow'] }, async () => {
    const { gru } = await import('./fixtures/recurrence');
    const [short, long] = [gru(8), gru(16)];
    const after = await keepsValues(short, optimiseGraph);
    const perStepOf = (size: (steps: number) => number) => (size(16) - size(8)) / 8;
    const traced = perStepOf((length) => (length === 16 ? long : short).nodes.length);
    const kept = perStepOf((length) => (length === 16 ? optimiseGraph(long) : after).nodes.length);
    expect(traced).toBeGreaterThan(44);
    expect(kept).toBeLessThan(35);
    expect(countOps(after)['ReduceMean']).toBeUndefined();
  });
});

describe('knownFactors and batchedSteps', () => {
  const length = 16;
  /** h = tanh(h w), and back: dh = (dh u) (1 - h h) w'. */
  const recurrence = graphOf({ h: [2, 3], w: [3, 3], dh: [2, 3], u: [2, 3] }, (b, { h, w, dh, u }) => {
    const states = [h!];
    for (let t = 0; t < length; t++) {
      const product = b.op('Add', [b.op('MatMul', [states[t], w], f32(2, 3)), u], f32(2, 3));
      states.push(b.op('Tanh', [product], f32(2, 3)));
    }
    let gradient = dh!;
    for (let t = length; t > 0; t--) {
      const state = states[t]!;
      const slope = b.op('Sub', [scalar(1), b.op('Mul', [state, state], f32(2, 3))], f32(2, 3));
      const scaled = b.op('Mul', [b.op('Mul', [gradient, states[t - 1]], f32(2, 3)), slope], f32(2, 3));
      gradient = b.op('Gemm', [scaled, w], f32(2, 3), { transB: 1 });
    }
    return { gradient };
  });
  const mulsOf = (rows: number) => (node: Node) => node.op === 'Mul' && node.outputs[0]!.shape[0] === rows;

  it('regroup what is known of products with a gradient, and compute it for all steps at once', async () => {
    const regrouped = await keepsValues(recurrence, commonSubexpressions, knownFactors);
    expect(countOps(regrouped)['Mul']).toBe(3 * length);
    const after = await keepsValues(regrouped, batchedSteps);
    // The first and the last few steps differ from the others in how their operands are made.
    const steps = after.nodes.find(({ op, inputs }) => op === 'Concat' && inputs.length > 8)!.inputs.length;
    expect(steps).toBeGreaterThanOrEqual(length - 5);
    expect(after.nodes.filter(mulsOf(2 * steps))).toHaveLength(2);
    expect(after.nodes.filter(mulsOf(2))).toHaveLength(3 * length - 2 * steps);
  });

  it('leave steps alone that depend on each other, and arrays that are too large to gain', () => {
    const chain = graphOf({ x: [2, 3], y: [2, 3] }, (b, { x, y }) => {
      let value = x!;
      for (let t = 0; t < length; t++) value = b.op('Tanh', [b.op('Mul', [value, y], f32(2, 3))], f32(2, 3));
      return { value };
    });
    expect(batchedSteps(knownFactors(chain)).nodes).toEqual(chain.nodes);
    const large = graphOf(perStep('x', [1000, 1000]), (b, values) => ({
      all: addUp(
        b,
        valuesOf(values, 'x').map((x) => b.op('Exp', [b.op('Neg', [x], f32(1000, 1000))], f32(1000, 1000))),
      ),
    }));
    expect(batchedSteps(large).nodes).toEqual(large.nodes);
  });

  it('put nodes in order, and find circles', () => {
    const [x, y, z] = [f32(1), f32(1), f32(1)];
    const node = (from: Value, to: Value): Node => ({ op: 'Neg', inputs: [from], outputs: [to], attributes: {} });
    const graph = { inputs: [{ name: 'x', value: x }], nodes: [node(y, z), node(x, y)], outputs: [] };
    expect(inOrder(graph)?.nodes.map(({ outputs }) => outputs[0])).toEqual([y, z]);
    expect(inOrder({ ...graph, nodes: [node(y, z), node(z, y)] })).toBeUndefined();
  });
});
