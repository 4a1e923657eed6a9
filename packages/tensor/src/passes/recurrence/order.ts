import type { Graph, Node, Value } from '../../graph';

/**
 * The same nodes, each after its operands, otherwise in the old order; undefined where they read each other in a
 * circle.
 */
export function inOrder(graph: Graph): Graph | undefined {
  const makers = new Map<Value | undefined, Node>();
  for (const node of graph.nodes) for (const output of node.outputs) makers.set(output, node);
  const nodes: Node[] = [];
  const begun = new Set<Node>();
  const done = new Set<Node>();
  for (const first of graph.nodes) {
    const open = [first];
    while (open.length > 0) {
      const node = open.at(-1)!;
      const missing = done.has(node) ? [] : unmade(node, makers, done);
      if (missing.length > 0) {
        if (begun.has(node)) return undefined;
        begun.add(node);
        open.push(...missing);
        continue;
      }
      open.pop();
      if (done.has(node)) continue;
      done.add(node);
      nodes.push(node);
    }
  }
  return { ...graph, nodes };
}

function unmade(node: Node, makers: ReadonlyMap<Value | undefined, Node>, done: ReadonlySet<Node>): Node[] {
  const missing: Node[] = [];
  for (const input of node.inputs) {
    const maker = makers.get(input);
    if (maker && !done.has(maker)) missing.push(maker);
  }
  return missing.reverse();
}
