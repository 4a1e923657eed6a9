import { backend_util } from '@tensorflow/tfjs-core';
import type { GraphBuilder, Value } from '../../graph';
import { kernel } from '../kernel';
import { elementwise, reshape } from './arithmetic';

interface ProductAttrs {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

/** Matrix products. */
export function registerMatMul(): void {
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

function gemm(graph: GraphBuilder, a: Value, b: Value, transA: boolean, transB: boolean, shape: readonly number[]) {
  const output = { shape, dtype: a.dtype };
  if (!transA && !transB) return graph.op('MatMul', [a, b], output);
  return graph.op('Gemm', [a, b], output, { transA: Number(transA), transB: Number(transB) });
}

const ACTIVATIONS: Record<string, string> = { relu: 'Relu', sigmoid: 'Sigmoid', tanh: 'Tanh', elu: 'Elu' };

/** The activation of tfjs's fused kernels. */
export function activate(
  graph: GraphBuilder,
  x: Value,
  activation: string | undefined,
  leakyreluAlpha = 0.2,
  slopes?: Value,
): Value {
  if (activation === undefined || activation === 'linear') return x;
  if (activation === 'prelu') return graph.op('PRelu', [x, slopes], x);
  if (activation === 'leakyrelu') return graph.op('LeakyRelu', [x], x, { alpha: { float: leakyreluAlpha } });
  if (activation === 'relu6') {
    const zero: Value = { shape: [], dtype: 'float32', constant: Float32Array.of(0) };
    const six: Value = { shape: [], dtype: 'float32', constant: Float32Array.of(6) };
    return graph.op('Clip', [x, zero, six], x);
  }
  const op = ACTIVATIONS[activation];
  if (!op) throw new Error(`the fused activation ${activation} can't be compiled`);
  return graph.op(op, [x], x);
}
