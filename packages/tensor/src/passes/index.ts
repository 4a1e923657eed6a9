import type { Graph, Pass } from '../graph';
import { encodeModel } from '../onnx';
import { commonSubexpressions } from './common-subexpressions';
import { sinkReshapes } from './conv-reshapes';
import { deadNodes } from './dead-nodes';
import { flatState } from './flat-state';
import { foldConstants } from './fold-constants';
import { sinkTransposes } from './layout';
import { addedProducts, rowBiases, transposedOperands } from './products';
import {
  batchedProducts,
  batchedSteps,
  joinedNodes,
  knownFactors,
  productsOfParts,
  splitProducts,
  stackedRows,
  sumsOfPads,
  sumsOfProducts,
} from './recurrence';
import { rmsNorms } from './rms-norms';
import { rowSums } from './row-sums';
import { simplify } from './simplify';
import { sumsOfSquares } from './sums-of-squares';

export { spellOutNorms } from './rms-norms';

/** Cleans up after other passes. */
const cleaning = [
  { name: 'fold-constants', pass: foldConstants },
  { name: 'simplify', pass: simplify },
  { name: 'common-subexpressions', pass: commonSubexpressions },
  { name: 'dead-nodes', pass: deadNodes },
];

/** The passes in the order in which they're made. */
export const passes: readonly { readonly name: string; readonly pass: Pass }[] = [
  { name: 'flat-state', pass: flatState }, // first: it must see all variables of a group
  ...cleaning,
  { name: 'simplify', pass: simplify },
  { name: 'common-subexpressions', pass: commonSubexpressions },
  { name: 'dead-nodes', pass: deadNodes },
  { name: 'sink-transposes', pass: sinkTransposes },
  { name: 'sink-reshapes', pass: sinkReshapes },
  { name: 'stacked-rows', pass: stackedRows },
  { name: 'simplify', pass: simplify },
  { name: 'dead-nodes', pass: deadNodes },
  { name: 'transposed-operands', pass: transposedOperands },
  { name: 'row-biases', pass: rowBiases },
  { name: 'dead-nodes', pass: deadNodes },
  { name: 'split-products', pass: splitProducts },
  { name: 'common-subexpressions', pass: commonSubexpressions },
  { name: 'batched-products', pass: batchedProducts },
  { name: 'dead-nodes', pass: deadNodes },
  { name: 'sums-of-pads', pass: sumsOfPads },
  { name: 'dead-nodes', pass: deadNodes },
  { name: 'sums-of-products', pass: sumsOfProducts },
  { name: 'dead-nodes', pass: deadNodes },
  { name: 'joined-nodes', pass: joinedNodes },
  { name: 'added-products', pass: addedProducts },
  { name: 'common-subexpressions', pass: commonSubexpressions },
  { name: 'dead-nodes', pass: deadNodes },
  { name: 'known-factors', pass: knownFactors },
  { name: 'common-subexpressions', pass: commonSubexpressions },
  { name: 'dead-nodes', pass: deadNodes },
  { name: 'batched-steps', pass: batchedSteps },
  { name: 'products-of-parts', pass: (graph) => productsOfParts(graph) },
  { name: 'row-sums', pass: rowSums },
  { name: 'sums-of-squares', pass: sumsOfSquares },
  { name: 'rms-norms', pass: rmsNorms },
  ...cleaning,
];

/** A graph that computes the same with less work. */
export function optimiseGraph(graph: Graph): Graph {
  return passes.reduce((current, { pass }) => pass(current), graph);
}

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
 * The graph after each pass in turn.
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
