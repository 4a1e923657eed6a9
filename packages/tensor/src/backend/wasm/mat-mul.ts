import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import { compose, type KernelArguments, type Run, registeredKernel, replaceKernel, type WasmKernel } from './kernels';
import { slice } from './memory';

/**
 * Matrix products. tfjs hands one plain product to a fast library, but does transposed and batched ones itself, 10 to
 * 30 times slower. Here operands are transposed first, and a batch is a loop over plain products.
 */
export function mendMatMul(): void {
  const plain = registeredKernel('BatchMatMul');
  replaceKernel('BatchMatMul', (given) => batchMatMul(plain, given));
}

/** a b, or with transposed operands; where that moves less data, as (b^T a^T)^T. */
function batchMatMul(plain: WasmKernel, { inputs, attrs, backend }: KernelArguments): tf.TensorInfo {
  const { a, b } = inputs;
  const [isTransposedA, isTransposedB] = [attrs['transposeA'] === true, attrs['transposeB'] === true];
  return compose(backend, (run, own) => {
    const turn = (x: tf.TensorInfo, isWanted: boolean) => (isWanted ? transposeLast(run, x) : x);
    if (!isSwapCheaper(a, b, isTransposedA, isTransposedB)) {
      return multiply(plain, run, backend, turn(a, isTransposedA), turn(b, isTransposedB));
    }
    return transposeLast(run, own(multiply(plain, run, backend, turn(b, !isTransposedB), turn(a, !isTransposedA))));
  });
}

/**
 * Nanoseconds an element, about: to transpose it, and to bring it into the order in which the library wants its right
 * operand.
 */
const TRANSPOSE = 2;
const PACK = 8;

/**
 * Where one operand is small and the other large, as for a layer's input gradient, it matters which one is turned over.
 */
function isSwapCheaper(a: tf.TensorInfo, b: tf.TensorInfo, isTransposedA: boolean, isTransposedB: boolean): boolean {
  if (!isTransposedA && !isTransposedB) return false;
  const [sizeA, sizeB] = [a, b].map(({ shape }) => tf.util.sizeFromShape(shape));
  const rows = a.shape[a.shape.length - (isTransposedA ? 1 : 2)];
  const columns = b.shape[b.shape.length - (isTransposedB ? 2 : 1)];
  const plainly = TRANSPOSE * ((isTransposedA ? sizeA : 0) + (isTransposedB ? sizeB : 0)) + PACK * sizeB;
  const turned =
    TRANSPOSE * ((isTransposedA ? 0 : sizeA) + (isTransposedB ? 0 : sizeB) + rows * columns) + PACK * sizeA;
  return turned < plainly;
}

/** Below this many multiplications per matrix tfjs's own loop over a batch is quick enough. */
const SMALL_PRODUCT = 4096;

/** [..., m, k] times [..., k, n]; a batch of one goes with any other. */
function multiply(
  plain: WasmKernel,
  run: Run,
  backend: BackendWasm,
  a: tf.TensorInfo,
  b: tf.TensorInfo,
): tf.TensorInfo {
  const product = (left: tf.TensorInfo, right: tf.TensorInfo): tf.TensorInfo =>
    plain({ inputs: { a: left, b: right }, attrs: { transposeA: false, transposeB: false }, backend }) as tf.TensorInfo;
  const [batchA, batchB] = [batchSize(a), batchSize(b)];
  const [m, k] = a.shape.slice(-2);
  const n = b.shape[b.shape.length - 1];
  if (batchB === 1 && batchA > 1 && a.shape.length >= b.shape.length) {
    const rows = run('Reshape', { x: a }, { shape: [batchA * m, k] });
    const matrix = run('Reshape', { x: b }, { shape: b.shape.slice(-2) });
    const tall = product(rows, matrix);
    return { ...tall, shape: [...a.shape.slice(0, -1), n] };
  }
  const isLoop = batchA === batchB && batchA > 1 && m * k * n >= SMALL_PRODUCT;
  return isLoop ? multiplyEach(product, backend, a, b, batchA) : product(a, b);
}

/** One plain product after the other, each written into its place of the result. */
function multiplyEach(
  product: (left: tf.TensorInfo, right: tf.TensorInfo) => tf.TensorInfo,
  backend: BackendWasm,
  a: tf.TensorInfo,
  b: tf.TensorInfo,
  batch: number,
): tf.TensorInfo {
  const [m, k] = a.shape.slice(-2);
  const n = b.shape[b.shape.length - 1];
  const result = backend.makeOutput([...a.shape.slice(0, -2), m, n], 'float32');
  const stackA = { ...a, shape: [batch, m, k] };
  const stackB = { ...b, shape: [batch, k, n] };
  for (let i = 0; i < batch; i++) {
    const left = slice(backend, stackA, [i, 0, 0], [1, m, k]);
    const right = slice(backend, stackB, [i, 0, 0], [1, k, n]);
    const part = product(left, right);
    backend.typedArrayFromHeap(result).set(backend.typedArrayFromHeap(part), i * m * n);
    for (const info of [left, right, part]) backend.disposeData(info.dataId);
  }
  return result;
}

/** Swaps the last two dimensions. */
export function transposeLast(run: Run, x: tf.TensorInfo): tf.TensorInfo {
  const rank = x.shape.length;
  const perm = [...x.shape.keys()].slice(0, -2).concat(rank - 1, rank - 2);
  return run('Transpose', { x }, { perm });
}

export function batchSize(x: tf.TensorInfo): number {
  return tf.util.sizeFromShape(x.shape.slice(0, -2));
}
