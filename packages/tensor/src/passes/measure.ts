import type { Graph } from '../graph';
import { encodeModel } from '../onnx';
import { passes } from '.';

/** A graph after a pass. */
export interface PassMeasure {
  /** Of the pass; `traced` for the graph as it was recorded. */
  readonly name: string;
  readonly nodes: number;
  /** Of the ONNX file. */
  readonly bytes: number;
  /** What `clock` counts, of the pass alone. */
  readonly time: number;
}

/**
 * What each pass in turn makes of a graph.
 *
 * @param clock such as `() => performance.now()`
 */
export function measurePasses(graph: Graph, clock: () => number = () => 0): readonly PassMeasure[] {
  const measure = (name: string, { nodes }: Graph, bytes: number, time: number) => ({
    name,
    nodes: nodes.length,
    bytes,
    time,
  });
  const measures: PassMeasure[] = [measure('traced', graph, sizeOf(graph), 0)];
  let current = graph;
  for (const { name, pass } of passes) {
    const start = clock();
    current = pass(current);
    const time = clock() - start;
    measures.push(measure(name, current, sizeOf(current), time));
  }
  return measures;
}

function sizeOf(graph: Graph): number {
  return encodeModel(graph, { name: 'measured' }).length;
}
