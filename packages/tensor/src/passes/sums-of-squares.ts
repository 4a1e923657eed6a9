import { type Graph, rewrite, type Value } from '../graph';

/** The sum of squares that nothing else reads is one node. */
export function sumsOfSquares(graph: Graph): Graph {
  return rewrite(graph, (node, { builder, maker, uses }) => {
    const [squares, axes] = node.inputs as [Value, Value | undefined];
    if (node.op !== 'ReduceSum' || squares.dtype !== 'float32' || uses(squares) > 1) return undefined;
    const square = maker(squares);
    const [x, other] = square?.op === 'Mul' ? square.inputs : [];
    if (!x || x !== other) return undefined;
    return [builder.op('ReduceSumSquare', [x, axes], node.outputs[0], node.attributes)];
  });
}
