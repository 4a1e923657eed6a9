import { GraphBuilder } from './builder';
import type { Graph, Node, Value } from './graph';

/** A {@link Rule}'s view of the graph around a node. */
export interface RewriteContext {
  /** The graph as rewritten so far; a rule appends its new nodes here. */
  readonly builder: GraphBuilder;
  /** The rewritten node that makes a value. */
  maker(value: Value | undefined): Node | undefined;
  /** How often a value is read, outputs of the graph included. */
  uses(value: Value): number;
}

/** Replaces the outputs of a node by other values of the same shapes, or leaves it alone (undefined). */
export type Rule = (node: Node, context: RewriteContext) => readonly Value[] | undefined;

/**
 * Offers each node, its inputs rewritten already, to a rule. Nodes without readers stay; the pass for dead nodes
 * removes them.
 */
export function rewrite(graph: Graph, rule: Rule): Graph {
  const builder = new GraphBuilder();
  const counts = countUses(graph);
  const replaced = new Map<Value, Value>();
  const current = (value: Value): Value => replaced.get(value) ?? value;
  const context: RewriteContext = {
    builder,
    maker: (value) => builder.maker(value),
    uses: (value) => counts.get(value) ?? 0,
  };
  for (const old of graph.nodes) {
    const isNew = old.inputs.some((input) => input && replaced.has(input));
    const node = isNew ? { ...old, inputs: old.inputs.map((input) => input && current(input)) } : old;
    const values = rule(node, context);
    if (!values) {
      builder.append(node);
      continue;
    }
    old.outputs.forEach((output, i) => {
      if (output === values[i]) return;
      replaced.set(output, values[i]);
      counts.set(values[i], (counts.get(values[i]) ?? 0) + (counts.get(output) ?? 0));
    });
  }
  const outputs = graph.outputs.map(({ name, value }) => ({ name, value: current(value) }));
  return { inputs: graph.inputs, nodes: builder.nodes, outputs };
}

/** How often each value is read, outputs of the graph included. */
export function countUses(graph: Graph): Map<Value, number> {
  const counts = new Map<Value, number>();
  const count = (value: Value | undefined) => value && counts.set(value, (counts.get(value) ?? 0) + 1);
  for (const node of graph.nodes) node.inputs.forEach(count);
  for (const { value } of graph.outputs) count(value);
  return counts;
}
