import * as runtime from 'onnxruntime-node';
import { expect } from 'vitest';
import { type Graph, GraphBuilder, type Pass, type Value, type ValueSpec } from '../src/graph';
import { encodeModel } from '../src/onnx';
import { deadNodes } from '../src/passes/dead-nodes';

/** What a graph's outputs hold, by name. */
export type Results = Readonly<Record<string, { readonly data: readonly number[]; readonly shape: readonly number[] }>>;

/** Runs a graph as it is, without ONNX Runtime's own optimisations. */
export async function runGraph(
  graph: Graph,
  feeds: Readonly<Record<string, Float32Array | Int32Array | Uint8Array>>,
): Promise<Results> {
  const session = await runtime.InferenceSession.create(encodeModel(graph, { name: 'test' }), {
    graphOptimizationLevel: 'disabled',
    intraOpNumThreads: 1,
  });
  const tensors = graph.inputs.map(({ name, value: { dtype, shape } }) => [
    name,
    new runtime.Tensor(dtype as 'float32', feeds[name] as Float32Array, [...shape]),
  ]);
  const results = await session.run(Object.fromEntries(tensors));
  await session.release();
  return Object.fromEntries(
    Object.entries(results).map(([name, { data, dims }]) => [
      name,
      { data: Array.from(data as Float32Array, Number), shape: dims },
    ]),
  );
}

/**
 * Numbers between -1 and 1 for each input (0 or 1, or -3 to 3, where they're bools or int32), the same for every call.
 */
export function someFeeds({ inputs }: Graph): Record<string, Float32Array | Int32Array | Uint8Array> {
  const kinds = { float32: Float32Array, int32: Int32Array, int64: Int32Array, bool: Uint8Array, uint8: Uint8Array };
  let count = 0;
  const entry = { float32: () => Math.sin(++count * 1.7), int32: () => (++count % 7) - 3, bool: () => ++count % 2 };
  return Object.fromEntries(
    inputs.map(({ name, value: { shape, dtype } }) => {
      const size = shape.reduce((product, d) => product * d, 1);
      return [name, kinds[dtype].from(Array.from({ length: size }, entry[dtype as 'float32']))];
    }),
  );
}

/** Applies passes, expects the same results, and returns the new graph without dead nodes. */
export async function keepsValues(graph: Graph, ...passes: readonly Pass[]): Promise<Graph> {
  const after = deadNodes(passes.reduce((current, pass) => pass(current), graph));
  const feeds = someFeeds(graph);
  const [expected, got] = [await runGraph(graph, feeds), await runGraph(after, feeds)];
  for (const [name, { data, shape }] of Object.entries(expected)) {
    expect(got[name]!.shape, name).toEqual(shape);
    const size = Math.max(1, ...data.map((x) => (Number.isFinite(x) ? Math.abs(x) : 0)));
    data.forEach((x, i) => {
      const y = got[name]!.data[i]!;
      if (Number.isFinite(x)) expect(Math.abs(y - x), `${name}[${i}]`).toBeLessThan(2e-6 * size);
      else expect(y, `${name}[${i}]`).toBe(x);
    });
  }
  return after;
}

/** How often each operation occurs. */
export function countOps({ nodes }: Graph): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { op } of nodes) counts[op] = (counts[op] ?? 0) + 1;
  return counts;
}

/** A float32 value to be made. */
export function f32(...shape: readonly number[]): ValueSpec {
  return { shape, dtype: 'float32' };
}

/**
 * A graph made by hand.
 *
 * @param inputs  by name, float32 where only a shape is given
 * @param make    appends nodes and returns the outputs by name
 */
export function graphOf(
  inputs: Readonly<Record<string, readonly number[] | ValueSpec>>,
  make: (builder: GraphBuilder, inputs: Record<string, Value>) => Readonly<Record<string, Value>>,
): Graph {
  const builder = new GraphBuilder();
  const values = Object.entries(inputs).map(([name, given]): [string, Value] => [
    name,
    'shape' in given ? { ...given } : f32(...given),
  ]);
  const outputs = make(builder, Object.fromEntries(values));
  return {
    inputs: values.map(([name, value]) => ({ name: `in/${name}`, value })),
    nodes: builder.nodes,
    outputs: Object.entries(outputs).map(([name, value]) => ({ name: `out/${name}`, value })),
  };
}
