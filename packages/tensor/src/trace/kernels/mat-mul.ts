import { backend_util } from '@tensorflow/tfjs-core';
import { type GraphBuilder, reshape, type Value } from '../../graph';
import { kernel } from '../kernel';
import { activate } from './activations';
import { cast, elementwise } from './arithmetic';
import { filled } from './constants';
import { transpose } from './shapes';

interface ProductAttrs {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

/** Matrix products, and sums of products in general. */
export function registerMatMul(): void {
  kernel<{ equation: string }>('Einsum', ({ list, attrs, graph }) => einsum(graph, attrs.equation, list));
  kernel<ProductAttrs>('BatchMatMul', ({ inputs: { a, b }, attrs, graph }) =>
    matMul(graph, a!, b!, attrs.transposeA, attrs.transposeB),
  );
  kernel<ProductAttrs & { activation?: string; leakyreluAlpha?: number }>(
    '_FusedMatMul',
    ({ inputs: { a, b, bias, preluActivationWeights }, attrs, graph }) => {
      const product = matMul(graph, a!, b!, attrs.transposeA, attrs.transposeB);
      const biased = bias ? elementwise(graph, 'Add', product, bias) : product;
      return activate(graph, biased, attrs.activation, attrs.leakyreluAlpha, preluActivationWeights);
    },
  );
}

/** a b for (batches of) matrices, each transposed first if asked. Single matrices become Gemm, batches FusedMatMul. */
export function matMul(graph: GraphBuilder, a: Value, b: Value, transposeA: boolean, transposeB: boolean): Value {
  const [rank, rankB] = [a.shape.length, b.shape.length];
  const rows = a.shape[transposeA ? rank - 1 : rank - 2];
  const columns = b.shape[transposeB ? rankB - 2 : rankB - 1];
  const inner = [a.shape[transposeA ? rank - 2 : rank - 1], b.shape[transposeB ? rankB - 1 : rankB - 2]];
  if (inner[0] !== inner[1])
    throw new Error(`matMul: inner sizes ${inner[0]} and ${inner[1]} differ ([${a.shape}] x [${b.shape}])`);
  const batchA = a.shape.slice(0, -2);
  const batchB = b.shape.slice(0, -2);
  const batch = backend_util.assertAndGetBroadcastShape(batchA, batchB);
  const shape = [...batch, rows, columns];
  if (inner[0] === 0) return filled(shape, 0, a.dtype);
  if (a.dtype !== 'float32') return wholeProduct(graph, a, b, transposeA, transposeB, shape);
  if (batch.every((size) => size === 1)) {
    const flatA = reshape(graph, a, a.shape.slice(-2));
    const flatB = reshape(graph, b, b.shape.slice(-2));
    const product = gemm(graph, flatA, flatB, transposeA, transposeB, [rows, columns]);
    return reshape(graph, product, shape);
  }
  const output = { shape, dtype: a.dtype };
  if (!transposeA && !transposeB) return graph.op('MatMul', [a, b], output);
  return graph.microsoft('FusedMatMul', [a, b], output, { transA: Number(transposeA), transB: Number(transposeB) });
}

/** ONNX Runtime multiplies whole numbers by MatMul alone. */
function wholeProduct(
  graph: GraphBuilder,
  a: Value,
  b: Value,
  transposeA: boolean,
  transposeB: boolean,
  shape: readonly number[],
): Value {
  const [left, right] = [transposeA ? flipped(graph, a) : a, transposeB ? flipped(graph, b) : b];
  const product = graph.op('MatMul', [cast(graph, left, 'int32'), cast(graph, right, 'int32')], {
    shape,
    dtype: 'int32',
  });
  return cast(graph, product, a.dtype);
}

function flipped(graph: GraphBuilder, x: Value): Value {
  const axes = [...x.shape.keys()];
  return transpose(graph, x, [...axes.slice(0, -2), axes.length - 1, axes.length - 2]);
}

function gemm(graph: GraphBuilder, a: Value, b: Value, transA: boolean, transB: boolean, shape: readonly number[]) {
  const output = { shape, dtype: a.dtype };
  if (!transA && !transB) return graph.op('MatMul', [a, b], output);
  return graph.op('Gemm', [a, b], output, { transA: Number(transA), transB: Number(transB) });
}

/** Sums over products by Einstein's convention, as `ij,jk->ik`. */
function einsum(graph: GraphBuilder, equation: string, operands: readonly Value[]): Value {
  const plain = equation.replace(/\s/g, '');
  const [inputs, output] = plain.split('->');
  const sizes = new Map<string, number>();
  inputs.split(',').forEach((labels, i) => {
    [...labels].forEach((label, axis) => {
      sizes.set(label, operands[i].shape[axis]);
    });
  });
  const shape = [...output].map((label) => sizes.get(label)!);
  const { dtype } = operands[0];
  if ([...sizes.values()].includes(0)) return filled(shape, 0, dtype);
  return graph.op('Einsum', operands, { shape, dtype }, { equation: plain });
}
