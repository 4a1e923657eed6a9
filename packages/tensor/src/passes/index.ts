import type { Graph, Pass } from '../graph';
import { commonSubexpressions } from './common-subexpressions';
import { deadNodes } from './dead-nodes';
import { flatState } from './flat-state';
import { foldConstants } from './fold-constants';
import { addedProducts, rowBiases, transposedOperands } from './products';
import { batchedProducts, joinedNodes, splitProducts, stackedRows, sumsOfProducts } from './recurrence';
import { simplify } from './simplify';

/** Cleans up: what other passes leave behind. */
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
  ...cleaning,
  { name: 'stacked-rows', pass: stackedRows },
  { name: 'simplify', pass: simplify },
  { name: 'transposed-operands', pass: transposedOperands },
  { name: 'row-biases', pass: rowBiases },
  { name: 'dead-nodes', pass: deadNodes },
  { name: 'split-products', pass: splitProducts },
  { name: 'common-subexpressions', pass: commonSubexpressions },
  { name: 'batched-products', pass: batchedProducts },
  { name: 'dead-nodes', pass: deadNodes },
  { name: 'sums-of-products', pass: sumsOfProducts },
  { name: 'common-subexpressions', pass: commonSubexpressions },
  { name: 'dead-nodes', pass: deadNodes },
  { name: 'joined-nodes', pass: joinedNodes },
  { name: 'added-products', pass: addedProducts },
  ...cleaning,
];

/** A graph that computes the same with less work. */
export function optimiseGraph(graph: Graph): Graph {
  return passes.reduce((current, { pass }) => pass(current), graph);
}
