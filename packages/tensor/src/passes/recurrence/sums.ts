import { countUses, type Graph, type Node, type RewriteContext, sameShape, type Value } from '../../graph';
import { madeBy } from '../patterns';

/** Sums that are read once, by another sum of the same shape. */
export function innerSums(graph: Graph): ReadonlySet<Value> {
  const uses = countUses(graph);
  const sums = new Set(graph.nodes.filter(({ op }) => op === 'Add').map(({ outputs }) => outputs[0]));
  const inner = new Set<Value>();
  for (const { op, inputs, outputs } of graph.nodes) {
    if (op !== 'Add') continue;
    for (const input of inputs as Value[]) {
      if (sums.has(input) && uses.get(input) === 1 && sameShape(input.shape, outputs[0].shape)) inner.add(input);
    }
  }
  return inner;
}

/** The terms of a sum, in order; without recursion, since chains are as long as sequences. */
export function termsOf(node: Node, inner: ReadonlySet<Value>, context: RewriteContext): readonly Value[] {
  const terms: Value[] = [];
  const open = [...node.inputs].reverse() as Value[];
  while (open.length > 0) {
    const value = open.pop()!;
    const sum = inner.has(value) ? madeBy(value, context, 'Add') : undefined;
    if (sum) open.push(sum.inputs[1]!, sum.inputs[0]!);
    else terms.push(value);
  }
  return terms.every(({ shape }) => sameShape(shape, node.outputs[0].shape)) ? terms : [];
}
