import { type Attribute, elements, type Node, uniformValue, type Value } from '../../graph';
import { axisOf, integerOf, reducedAxes } from '../../passes/patterns';
import type { Lowering } from '../lowering';
import { Unsupported } from '../steps';
import { broadcast, cut, inOrder, type View } from '../views';
import { addConv, addConvTranspose, addPool } from './convolutions';
import { bitsOf, copyStep, fillStep } from './copies';
import { addEinsum } from './einsum';
import {
  addArgMax,
  addCumSum,
  addGather,
  addGatherElements,
  addGatherNd,
  addScatterElements,
  addScatterNd,
  addTopK,
} from './indexing';
import { addProduct, matrixView } from './products';
import { isReducible, type Reduction, reduceStep, reducesIntegers } from './reductions';
import { rmsNormStep, softmaxStep } from './rows';
import { addScan } from './scan';

type Lower = (node: Node, lowering: Lowering) => void;

/** Appends the steps of a node that isn't elementwise. */
export function lowerNode(node: Node, lowering: Lowering): void {
  const name = node.domain ? `${node.domain}.${node.op}` : node.op;
  const found = NODES[node.op];
  if (!found || (node.domain !== undefined && node.op !== 'FusedMatMul')) {
    throw new Unsupported(`${name} of ${node.inputs[0]?.dtype ?? 'nothing'}`);
  }
  found(node, lowering);
}

/** A real attribute. */
function realOf(attribute: Attribute | undefined, otherwise: number): number {
  if (typeof attribute === 'number') return attribute;
  return typeof attribute === 'object' && 'float' in attribute ? attribute.float : otherwise;
}

const product: Lower = (node, lowering) => {
  const [a, b, c] = node.inputs as [Value, Value, Value | undefined];
  const [y] = node.outputs;
  if (a.shape.length < 2 || b.shape.length < 2) throw new Unsupported('a product of vectors');
  const [transA, transB] = ['transA', 'transB'].map((flag) => integerOf(node, flag, 0) === 1);
  const batch = y.shape.slice(0, -2);
  const matrix = (value: Value, isTransposed: boolean): View => {
    const view = lowering.view(value);
    return matrixView(broadcast(view, [...batch, ...value.shape.slice(-2)]), isTransposed);
  };
  const alpha = realOf(node.attributes['alpha'], 1);
  const beta = realOf(node.attributes['beta'], 1);
  if (c && beta !== 1) throw new Unsupported('Gemm with beta');
  addProduct(
    {
      a: matrix(a, transA),
      b: matrix(b, transB),
      addend: c && addable(c, y, lowering),
      out: lowering.room(y),
      alpha,
      isInteger: y.dtype !== 'float32',
    },
    lowering,
  );
};

/** What is added to a product, repeated; copied unless neighbours in a row are equal, or neighbours in memory. */
function addable(c: Value, y: Value, lowering: Lowering): View {
  const view = broadcast(lowering.view(c), y.shape);
  if ([0, 1].includes(view.dims.at(-1)!.stride)) return view;
  return broadcast(lowering.packed(c), y.shape);
}

const reduction =
  (kind: Reduction): Lower =>
  (node, lowering) => {
    const x = node.inputs[0]!;
    const isInteger = x.dtype !== 'float32';
    if (isInteger && !reducesIntegers(kind)) throw new Unsupported(`${node.op} of ${x.dtype}`);
    const view = lowering.view(x);
    const from = isReducible(view) ? view : lowering.packed(x);
    lowering.add(reduceStep(kind, from, reducedAxes(node), lowering.room(node.outputs[0]), isInteger));
  };

const softmax =
  (isLog: boolean): Lower =>
  (node, lowering) => {
    const x = node.inputs[0]!;
    const axis = integerOf(node, 'axis', -1);
    if (axis !== -1 && axis !== x.shape.length - 1) throw new Unsupported('softmax over an axis but the last');
    lowering.add(softmaxStep(lowering.packed(x), lowering.room(node.outputs[0]), isLog));
  };

const NODES: Readonly<Record<string, Lower>> = {
  ArgMax: addArgMax,
  ArgMin: addArgMax,
  CumSum: addCumSum,
  Gather: addGather,
  GatherElements: addGatherElements,
  GatherND: addGatherNd,
  ScatterElements: addScatterElements,
  ScatterND: addScatterNd,
  TopK: addTopK,
  Scan: addScan,
  Einsum: addEinsum,
  Conv: addConv,
  ConvTranspose: addConvTranspose,
  MaxPool: addPool,
  AveragePool: addPool,
  MatMul: product,
  Gemm: product,
  FusedMatMul: product,
  ReduceSum: reduction('Sum'),
  ReduceMean: reduction('Mean'),
  ReduceMax: reduction('Max'),
  ReduceMin: reduction('Min'),
  ReduceProd: reduction('Prod'),
  ReduceSumSquare: reduction('SumSquare'),
  Softmax: softmax(false),
  LogSoftmax: softmax(true),
  SimplifiedLayerNormalization(node, lowering) {
    const [x, scale] = node.inputs as [Value, Value];
    const [y, inverse] = node.outputs;
    const epsilon = realOf(node.attributes['epsilon'], 1e-5);
    const made = inverse && lowering.room(inverse);
    lowering.add(rmsNormStep(lowering.packed(x), lowering.packed(scale), lowering.room(y), made, epsilon));
  },
  Concat(node, lowering) {
    const out = lowering.room(node.outputs[0]);
    const axis = axisOf(node);
    let start = 0;
    for (const input of node.inputs as readonly Value[]) {
      const size = input.shape[axis];
      if (elements(input) > 0) lowering.add(copyStep(lowering.view(input), cut(out, axis, start, size)));
      start += size;
    }
  },
  Tile({ inputs: [x, repeats], outputs: [y] }, lowering) {
    const from = lowering.view(x!);
    const counts = Array.from(repeats!.constant!);
    const source = from.dims.flatMap((dim, axis) => [{ size: counts[axis], stride: 0 }, dim]);
    const target = inOrder(source.map(({ size }) => size));
    lowering.add(copyStep({ ...from, dims: source }, { ...lowering.room(y), dims: target }));
  },
  Pad(node, lowering) {
    const [x, amounts, value] = node.inputs as [Value, Value, Value | undefined];
    const [y] = node.outputs;
    const filler = value ? uniformValue(value) : 0;
    const before = Array.from(amounts.constant ?? []).slice(0, x.shape.length);
    if (
      filler === undefined ||
      before.some((size) => size < 0) ||
      (node.attributes['mode'] ?? 'constant') !== 'constant'
    )
      throw new Unsupported('Pad with other than a number');
    const out = lowering.room(y);
    lowering.add(fillStep(out, bitsOf(filler, y.dtype)));
    let inside = out;
    for (const [axis, start] of before.entries()) inside = cut(inside, axis, start, x.shape[axis]);
    lowering.add(copyStep(lowering.view(x), inside));
  },
};
