import { elements, type Graph, type Node } from '../graph';

/** The work of a graph, loops counted as often as they turn. */
interface Work {
  readonly nodes: number;
  /** Millions of multiplications within products. */
  readonly millions: number;
  /** Thousands of numbers in the results of all nodes. */
  readonly thousands: number;
}

/**
 * Microseconds of a call, of a node, of a million multiplications, of a thousand numbers. Fitted to processor times of
 * policies and their training steps (4 to 448 inputs, two layers of 64 to 128 units, 1 to 256 rows) on one thread of a
 * processor with AVX-512, and without fused multiply-add in generated code. They deviate from the measured times by 8
 * and 6 % on average. Other machines get the same choice, so that a run doesn't depend on the machine's load.
 */
const COSTS = {
  onnx: { call: 17, node: 0.6, million: 10, thousand: 0.2 },
  generated: { call: 5, node: 0.01, million: 40, thousand: 0.08 },
} as const;

/** Whether generated code is expected to be faster than ONNX Runtime, by shapes alone: where products are small. */
export function isFasterGenerated(graph: Graph): boolean {
  const { nodes, millions, thousands } = workOf(graph);
  const time = ({ call, node, million, thousand }: (typeof COSTS)[keyof typeof COSTS]) =>
    call + nodes * node + millions * million + thousands * thousand;
  return time(COSTS.generated) < time(COSTS.onnx);
}

function workOf({ nodes }: Graph): Work {
  let [count, millions, thousands] = [0, 0, 0];
  for (const node of nodes) {
    const times = node.body ? turnsOf(node) : 1;
    const inside = node.body ? workOf(node.body) : workOfNode(node);
    count += times * inside.nodes;
    millions += times * inside.millions;
    thousands += times * inside.thousands;
  }
  return { nodes: count, millions, thousands };
}

function workOfNode(node: Node): Work {
  const numbers = node.outputs.reduce((sum, output) => sum + elements(output), 0);
  return { nodes: 1, millions: multiplications(node) / 1e6, thousands: numbers / 1e3 };
}

function turnsOf({ inputs, attributes }: Node): number {
  const [axis] = attributes['scan_input_axes'] as readonly number[];
  return inputs.at(-1)!.shape[axis];
}

function multiplications({ op, inputs: [a, b], outputs: [y], attributes }: Node): number {
  switch (op) {
    case 'MatMul':
    case 'FusedMatMul':
    case 'Gemm':
      return elements(y) * (a!.shape.at(attributes['transA'] === 1 ? -2 : -1) ?? 1);
    case 'Conv': // each number of the result takes a filter of one output channel
      return (elements(y) * elements(b!)) / (b!.shape[0] || 1);
    case 'ConvTranspose': // each number of the input takes a filter of one input channel
      return (elements(a!) * elements(b!)) / (b!.shape[0] || 1);
    default:
      return 0;
  }
}
