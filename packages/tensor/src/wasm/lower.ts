import { elements, type Graph } from '../graph';
import { unitsOf } from './fuse';
import { fusedStep } from './kernels/elementwise';
import { lowerNode } from './kernels/nodes';
import { Lowering } from './lowering';
import type { Lowered, NamedView } from './steps';
import { whole } from './views';

/** Takes a graph apart into steps; throws {@link Unsupported}. */
export function lower(graph: Graph, isFused: boolean): Lowered {
  const lowering = new Lowering(isFused, append);
  const inputs = graph.inputs.map(({ name, value }): NamedView => {
    const view = whole({ place: 'input', size: elements(value), dtype: value.dtype }, value.shape);
    lowering.define(value, value.dtype === 'uint8' ? lowering.widened(view, value) : view);
    return { name, value, view };
  });
  lowering.run(graph);
  const outputs = graph.outputs.map(({ name, value }): NamedView => ({ name, value, view: lowering.packed(value) }));
  return { instructions: lowering.instructions, inputs, outputs };
}

/** Appends the steps of a graph's nodes. */
function append(graph: Graph, lowering: Lowering): void {
  for (const { nodes, isFused, results } of unitsOf(graph)) {
    if (isFused) lowering.add(fusedStep(nodes, results, lowering));
    else lowerNode(nodes[0], lowering);
  }
}
