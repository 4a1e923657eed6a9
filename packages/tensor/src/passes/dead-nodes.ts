import type { Graph, Node, Value } from '../graph';

/** Takes out what no output depends on. */
export function deadNodes(graph: Graph): Graph {
  const needed = new Set<Value | undefined>(graph.outputs.map(({ value }) => value));
  const kept: Node[] = [];
  for (const node of [...graph.nodes].reverse()) {
    if (!node.outputs.some((output) => needed.has(output))) continue;
    for (const input of node.inputs) needed.add(input);
    kept.push(node);
  }
  return { ...graph, nodes: kept.reverse() };
}
