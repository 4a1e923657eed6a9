import type { Graph, Pass } from '../graph';
import { deadNodes } from './dead-nodes';

/** The passes in the order in which they're made. */
export const passes: readonly { readonly name: string; readonly pass: Pass }[] = [
  { name: 'dead-nodes', pass: deadNodes },
];

/** A graph that computes the same with less work. */
export function optimiseGraph(graph: Graph): Graph {
  return passes.reduce((current, { pass }) => pass(current), graph);
}
