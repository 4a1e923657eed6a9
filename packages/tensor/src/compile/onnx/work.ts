import { sizeOf } from '@coplay/core/arrays';
import type { Graph, Node, Value } from '../../graph';

/** Below this, in floating-point operations, ONNX Runtime hardly splits an operation among threads. */
const SPLIT = 2 ** 19;

/** A graph with less work in such operations takes 0.1 ms of them: nothing to gain from a second thread. */
const ENOUGH = 2 ** 23;

/**
 * An elementwise operation is bound by memory: one number of it takes about as long as this many operations of a matrix
 * product.
 */
const ELEMENT = 8;

/** Whether more than one thread may pay: enough work lies in operations large enough to be split. */
export function isWorthThreads(graph: Graph): boolean {
  let sum = 0;
  for (const node of graph.nodes) {
    const work = workOf(node);
    if (work >= SPLIT) sum += work;
  }
  return sum >= ENOUGH;
}

/**
 * Operations of one node for which a second thread pays, and a third: below it, threads wait for each other too often.
 */
const PER_THREAD = 2 ** 22;

/**
 * How many threads a graph gets where nothing is timed: one for each 2^22 operations of its large nodes, on average
 * over the work in them, and no more than there are cores. The same graph on the same machine always gets the same
 * number.
 */
export function fixedThreads(graph: Graph, cores: number): number {
  let [sum, squares] = [0, 0];
  for (const node of allNodes(graph)) {
    const work = node.body ? 0 : workOf(node);
    if (work < SPLIT) continue;
    sum += work;
    squares += work * work;
  }
  if (sum < ENOUGH) return 1;
  return Math.min(cores, Math.max(1, Math.floor(squares / sum / PER_THREAD)));
}

/** The nodes of a graph and of the loops in it. */
function allNodes({ nodes }: Graph): Node[] {
  return nodes.flatMap((node) => [node, ...(node.body ? allNodes(node.body) : [])]);
}

/** Floating-point operations of a node, roughly. */
export function workOf(node: Node): number {
  const { op, inputs, outputs } = node;
  const result = elements(outputs[0]);
  switch (op) {
    case 'MatMul':
    case 'FusedMatMul':
    case 'Gemm':
      return 2 * result * innerSize(node);
    case 'Conv': // each number of the output takes a filter of one output channel
      return (2 * result * elements(inputs[1])) / (inputs[1]?.shape[0] || 1);
    case 'ConvTranspose': // each number of the input takes a filter of one input channel
      return (2 * elements(inputs[0]) * elements(inputs[1])) / (inputs[1]?.shape[0] || 1);
    case 'Loop':
    case 'Scan':
    case 'GRU':
    case 'LSTM':
      return ENOUGH; // unknown from outside: a trial tells
    default:
      return ELEMENT * Math.max(result, elements(inputs[0]));
  }
}

/** K of [M, K] x [K, N]. */
function innerSize({ inputs, attributes }: Node): number {
  const shape = inputs[0]?.shape ?? [];
  return shape.at(attributes['transA'] === 1 ? -2 : -1) ?? 1;
}

function elements(value: Value | undefined): number {
  return value ? sizeOf(value.shape) : 0;
}
