import type * as Ort from 'onnxruntime-web/wasm';
import { type Graph, GraphBuilder, type Value } from '../../packages/tensor/src/graph';
import { encodeModel } from '../../packages/tensor/src/onnx';

type Build = (graph: GraphBuilder) => Value;

const matrix = { shape: [2, 2], dtype: 'float32' } as const;
const x: Value = { ...matrix };

/** For each of ONNX Runtime's own operators that compiled graphs may hold, the least graph with it. */
export const operators: Readonly<Record<string, Build>> = {
  FusedMatMul: (graph) => graph.microsoft('FusedMatMul', [x, x], matrix, { transA: 1 }),
};

/** A control: what no build has. */
export const unknownOperator: typeof operators = {
  NoSuchOperator: (graph) => graph.microsoft('NoSuchOperator', [x], matrix),
};

/** Those of {@link operators} that a build of ONNX Runtime refuses, and why. */
export async function refusedOf(ort: typeof Ort, builds = operators): Promise<Record<string, string>> {
  const refused: Record<string, string> = {};
  for (const [name, build] of Object.entries(builds)) {
    const model = encodeModel(graphOf(build), { name });
    try {
      await (await ort.InferenceSession.create(model, { executionProviders: ['wasm'] })).release();
    } catch (error) {
      refused[name] = (error as Error).message;
    }
  }
  return refused;
}

function graphOf(build: Build): Graph {
  const builder = new GraphBuilder();
  const y = build(builder);
  return { inputs: [{ name: 'x', value: x }], nodes: builder.nodes, outputs: [{ name: 'y', value: y }] };
}
