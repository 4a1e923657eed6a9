import { type Graph, GraphBuilder, type Node, type Value } from '../graph';
import { spellOutNorms } from '../passes';
import { onePerMember } from './one-per-member';
import { ruleOf } from './rules';
import { StackContext } from './stack-context';

/**
 * The graph that does for A members at once what `graph` does for one: every input and output gets a leading member
 * axis [A, ...], and nothing mixes members. (What JAX calls vmap.) Operations without a rule are done member by member.
 */
export function stackGraph(single: Graph, members: number): Graph {
  const graph = spellOutNorms(single);
  const builder = new GraphBuilder();
  const context = new StackContext(builder, members);
  const inputs = graph.inputs.map(({ name, value }) => {
    const stacked: Value = { shape: [members, ...value.shape], dtype: value.dtype };
    context.set(value, stacked);
    return { name, value: stacked };
  });
  for (const node of graph.nodes) stackNode(node, context);
  const outputs = graph.outputs.map(({ name, value }) => ({ name, value: context.expanded(value) }));
  return { inputs, nodes: builder.nodes, outputs };
}

function stackNode(node: Node, context: StackContext): void {
  if (!node.inputs.some((input) => input && context.isStacked(input))) {
    context.builder.append(node); // the same for all members
    return;
  }
  const made = ruleOf(node)?.(node, context) ?? onePerMember(node, context);
  node.outputs.forEach((output, i) => {
    context.set(output, made[i]);
  });
}
