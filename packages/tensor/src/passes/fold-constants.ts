import { elements, type Graph, rewrite } from '../graph';
import { evaluate } from './evaluate';

/** Results of more numbers than this are left to the runtime, unless an operand is as large. */
const SMALL = 4096;

/** Computes nodes of constants alone, where that makes the file no larger. */
export function foldConstants(graph: Graph): Graph {
  return rewrite(graph, (node) => {
    const room = Math.max(SMALL, ...node.inputs.map((input) => input?.constant?.length ?? 0));
    if (node.outputs.reduce((sum, output) => sum + elements(output), 0) > room) return undefined;
    return evaluate(node);
  });
}
