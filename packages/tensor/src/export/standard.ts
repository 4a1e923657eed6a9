import { fail } from '@coplay/core';
import { type Graph, type GraphBuilder, type Node, rewrite, type Value } from '../graph';
import { spellOutNorms } from '../passes';

/**
 * The same graph with operators of the ONNX standard alone: ONNX Runtime's own operators, which tracing and passes
 * make, are expanded.
 *
 * @throws CoplayError for one that has no such spelling
 */
export function standardise(where: string, graph: Graph): Graph {
  return rewrite(spellOutNorms(graph), (node, { builder }) => {
    if (node.domain === undefined) return undefined;
    if (node.op === 'FusedMatMul') return [spellOut(node, builder)];
    const remedy = 'Use another operation; please report it.';
    return fail(where, 'operators of the ONNX standard', `${node.domain}.${node.op}`, remedy);
  });
}

/** (alpha) a b, each transposed first if asked. */
function spellOut({ inputs, outputs: [output], attributes }: Node, builder: GraphBuilder): Value {
  const { transA, transB, alpha } = attributes;
  const [a, b] = inputs as readonly [Value, Value];
  const operands = [transA === 1 ? swapped(a, builder) : a, transB === 1 ? swapped(b, builder) : b];
  const product = builder.op('MatMul', operands, output);
  const factor = typeof alpha === 'object' && 'float' in alpha ? alpha.float : 1;
  if (factor === 1) return product;
  const scale: Value = { shape: [], dtype: 'float32', constant: Float32Array.of(factor) };
  return builder.op('Mul', [product, scale], output);
}

/** A value with its last two axes exchanged. */
function swapped(x: Value, builder: GraphBuilder): Value {
  const rank = x.shape.length;
  const perm = [...x.shape.keys()];
  [perm[rank - 2], perm[rank - 1]] = [rank - 1, rank - 2];
  return builder.op('Transpose', [x], { shape: perm.map((axis) => x.shape[axis]), dtype: x.dtype }, { perm });
}
