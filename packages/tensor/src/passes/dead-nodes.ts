import type { Graph, Node, Value } from '../graph';

/** Removes everything on which no output depends: nodes, and unread inputs of the function and of the state. */
export function deadNodes(graph: Graph): Graph {
  const needed = new Set<Value | undefined>(graph.outputs.map(({ value }) => value));
  const kept: Node[] = [];
  for (let i = graph.nodes.length - 1; i >= 0; i--) {
    const node = graph.nodes[i];
    if (!node.outputs.some((output) => needed.has(output))) continue;
    for (const input of node.inputs) needed.add(input);
    kept.push(node);
  }
  const inputs = graph.inputs.filter(({ name, value }) => needed.has(value) || !/^(in|state)\//.test(name));
  return { ...graph, inputs, nodes: kept.reverse() };
}
