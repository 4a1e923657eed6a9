import { describe, expect, it } from 'vitest';
import { constant, type Graph, GraphBuilder, indices, type Value } from '../graph';
import { WasmSession } from './session';

type Feeds = Readonly<Record<string, Float32Array | Int32Array>>;

/** n numbers of both signs, all different. */
function wave(n: number, phase = 0): Float32Array {
  return Float32Array.from({ length: n }, (_, i) => 2 * Math.sin(1.3 * i + 0.7 + phase));
}

const f32 = (...shape: number[]): Value => ({ shape, dtype: 'float32' });
const sizeOf = ({ shape }: Value) => shape.reduce((product, size) => product * size, 1);

async function computed(graph: Graph, feeds: Feeds): Promise<Record<string, number[]>> {
  const session = await WasmSession.create(graph);
  const data = Object.fromEntries(Object.entries(feeds).map(([name, one]) => [name, { data: one }]));
  const results = session.run(data, Object.fromEntries(graph.outputs.map(({ name }) => [name, null])));
  session.release();
  return Object.fromEntries(Object.entries(results).map(([name, { data: numbers }]) => [name, Array.from(numbers)]));
}

/** A graph of one result over named inputs. */
function graphOf(inputs: Readonly<Record<string, Value>>, make: (builder: GraphBuilder) => Value): Graph {
  const builder = new GraphBuilder();
  const value = make(builder);
  return {
    inputs: Object.entries(inputs).map(([name, input]) => ({ name, value: input })),
    nodes: builder.nodes,
    outputs: [{ name: 'y', value }],
  };
}

function expectClose(got: readonly number[], expected: readonly number[]): void {
  const worst = Math.max(...expected.map((y, i) => Math.abs(y - got[i]!)));
  expect(got).toHaveLength(expected.length);
  expect(worst).toBeLessThan(2e-5 * Math.max(1, ...expected.map(Math.abs)));
}

/** Sizes around those of tiles and vectors. */
const SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 13, 17];
const INNER = [1, 3, 4, 9, 33, 34, 39];

describe('products', () => {
  it.each([
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ])('of all sizes around those of a tile, transposed %s %s, are sums over K', async (transA, transB) => {
    for (const [i, m] of SIZES.entries()) {
      for (const [j, n] of SIZES.entries()) {
        const k = INNER[(i + 3 * j) % INNER.length]!;
        const a = f32(...(transA ? [k, m] : [m, k]));
        const b = f32(...(transB ? [n, k] : [k, n]));
        const c = [undefined, f32(n), f32(m, n), f32(1, 1), f32(m, 1)][(i + j) % 5];
        const graph = graphOf({ a, b, ...(c ? { c } : {}) }, (builder) =>
          builder.op('Gemm', [a, b, c], f32(m, n), { transA: Number(transA), transB: Number(transB) }),
        );
        const feeds = { a: wave(m * k), b: wave(n * k, 1), ...(c ? { c: wave(sizeOf(c), 2) } : {}) };
        const { y } = await computed(graph, feeds);
        const added = (row: number, column: number): number => {
          if (!c) return 0;
          const [rows, columns] = c.shape.length === 1 ? [1, n] : c.shape;
          return feeds.c![(rows === 1 ? 0 : row) * columns! + (columns === 1 ? 0 : column)]!;
        };
        const expected = Array.from({ length: m * n }, (_, at) => {
          const [row, column] = [Math.floor(at / n), at % n];
          let sum = added(row, column);
          for (let q = 0; q < k; q++) {
            sum += feeds.a[transA ? q * m + row : row * k + q]! * feeds.b[transB ? column * k + q : q * n + column]!;
          }
          return sum;
        });
        expectClose(y!, expected);
      }
    }
  });
});

describe('reductions', () => {
  const shape = [3, 5, 6];
  const x = wave(90);
  /** Numbers of x by the places of the axes that are kept. */
  const groups = (axes: readonly number[]): number[][] => {
    const kept = [0, 1, 2].filter((axis) => !axes.includes(axis));
    const found = new Map<string, number[]>();
    x.forEach((entry, i) => {
      const place = [Math.floor(i / 30), Math.floor(i / 6) % 5, i % 6];
      const key = kept.map((axis) => place[axis]).join();
      found.set(key, [...(found.get(key) ?? []), entry]);
    });
    return [...found.values()];
  };
  const FUNCTIONS: Readonly<Record<string, (entries: readonly number[]) => number>> = {
    ReduceSum: (entries) => entries.reduce((sum, entry) => sum + entry, 0),
    ReduceMean: (entries) => entries.reduce((sum, entry) => sum + entry, 0) / entries.length,
    ReduceMax: (entries) => Math.max(...entries),
    ReduceMin: (entries) => Math.min(...entries),
    ReduceSumSquare: (entries) => entries.reduce((sum, entry) => sum + entry * entry, 0),
  };

  it.each(Object.keys(FUNCTIONS))('%s over any axes', async (op) => {
    for (const axes of [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]) {
      const value = f32(...shape);
      const graph = graphOf({ x: value }, (builder) =>
        builder.op(op, [value, indices(axes)], f32(...shape.filter((_, axis) => !axes.includes(axis))), {
          keepdims: 0,
        }),
      );
      const { y } = await computed(graph, { x });
      expectClose(y!, groups(axes).map(FUNCTIONS[op]!));
    }
  });
});

describe('loops over elements', () => {
  it('repeat operands along any axes, and read parts of others in place', async () => {
    const [x, row, column, all] = [f32(2, 3, 5), f32(5), f32(3, 1), f32(2, 3, 9)];
    const graph = graphOf({ x, row, column, all }, (builder) => {
      const part = builder.op('Slice', [all, indices([2]), indices([7]), indices([2])], x);
      const sum = builder.op('Add', [builder.op('Mul', [x, row], x), column], x);
      return builder.op('Sub', [sum, part], x);
    });
    const feeds = { x: wave(30), row: wave(5, 1), column: wave(3, 2), all: wave(54, 3) };
    const { y } = await computed(graph, feeds);
    const expected = Array.from(feeds.x, (entry, i) => {
      const [line, at] = [Math.floor(i / 5), i % 5];
      return entry * feeds.row[at]! + feeds.column[line % 3]! - feeds.all[9 * line + 2 + at]!;
    });
    expectClose(y!, expected);
  });

  it('stop at an index beyond the end, and the next call works', async () => {
    const [x, places] = [f32(3), { shape: [2], dtype: 'int32' as const }];
    const graph = graphOf({ x, places }, (builder) => builder.op('Gather', [x, places], f32(2), { axis: 0 }));
    const session = await WasmSession.create(graph);
    const call = (...at: number[]) =>
      session.run({ x: { data: wave(3) }, places: { data: Int32Array.from(at) } }, { y: null })['y']!.data;
    expect(() => call(0, 3)).toThrow();
    expect([...call(-1, 0)]).toEqual([wave(3)[2], wave(3)[0]]);
    session.release();
  });
});

describe('loops', () => {
  it('carry what a step makes to the next one, two values exchanged', async () => {
    // a, b = b, a + b + x: Fibonacci's numbers where x is 0
    const [a, b, x] = [f32(), f32(), f32()];
    const inner = new GraphBuilder();
    const next = inner.op('Sum', [a, b, x], f32());
    const body: Graph = {
      inputs: [a, b, x].map((value) => ({ name: '', value })),
      nodes: inner.nodes,
      outputs: [b, next, next].map((value) => ({ name: '', value })),
    };
    const each = f32(6);
    const builder = new GraphBuilder();
    const start = [0, 1].map((entry) => constant(Float32Array.of(entry), [], 'float32'));
    const made = builder.append({
      op: 'Scan',
      inputs: [...start, each],
      outputs: [f32(), f32(), f32(6)],
      attributes: { num_scan_inputs: 1, scan_input_axes: [0], scan_output_axes: [0] },
      body,
    });
    const outputs = made.map((value, i) => ({ name: `y${i}`, value }));
    const graph = { inputs: [{ name: 'x', value: each }], nodes: builder.nodes, outputs };
    const { y0, y1, y2 } = await computed(graph, { x: new Float32Array(6) });
    expect([y0, y1, y2]).toEqual([[8], [13], [1, 2, 3, 5, 8, 13]]);
  });
});

describe('Einsum', () => {
  const x = wave(9);
  it.each([
    ['ij->ji', [0, 3, 6, 1, 4, 7, 2, 5, 8].map((i) => x[i]!)],
    ['ii->i', [0, 4, 8].map((i) => x[i]!)],
    ['ij->j', [0, 1, 2].map((j) => x[j]! + x[3 + j]! + x[6 + j]!)],
    ['ii->', [x[0]! + x[4]! + x[8]!]],
  ])('%s of one matrix', async (equation, expected) => {
    const value = f32(3, 3);
    const shape = [...equation.split('->')[1]!].map(() => 3);
    const graph = graphOf({ x: value }, (builder) => builder.op('Einsum', [value], f32(...shape), { equation }));
    const { y } = await computed(graph, { x });
    expectClose(y!, expected);
  });
});
