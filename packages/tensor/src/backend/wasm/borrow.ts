import type { MathBackendCPU } from '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { type KernelArguments, replaceKernel, type WasmKernel } from './kernels';

/**
 * Kernels of tfjs's wasm backend that give wrong numbers: the pooling ones start from the smallest positive float
 * instead of minus infinity, so that all-negative inputs fail, and so does the dilation; the gradients of the 3-d
 * convolution don't agree with finite differences; the images are filled with other numbers at their edges.
 */
const WRONG = [
  ...['MaxPoolGrad', 'MaxPool3D', 'MaxPool3DGrad', 'Dilation2D'],
  ...['Conv3DBackpropInputV2', 'Conv3DBackpropFilterV2'],
  ...['RotateWithOffset', 'Transform'],
];

/** wasm has no complex numbers. */
const COMPLEX = /^(Complex|Real|Imag|ComplexAbs|I?FFT|RFFT|IRFFT)$/;

/** Lets wasm run every kernel that it lacks or gets wrong on the JavaScript backend, which must be loaded. */
export function borrowKernels(): void {
  for (const { kernelName } of tf.getKernelsForBackend('cpu')) {
    const isMissing = !tf.getKernel(kernelName, 'wasm') && !COMPLEX.test(kernelName);
    if (isMissing || WRONG.includes(kernelName)) replaceKernel(kernelName, borrowed(kernelName));
  }
}

/** A kernel of the JavaScript backend: copies the inputs over, computes there, and copies the results back. */
export function borrowed(kernelName: string): WasmKernel {
  return ({ inputs, attrs, backend }: KernelArguments) => {
    const cpu = tf.engine().findBackend('cpu') as MathBackendCPU;
    const kernel = tf.getKernel(kernelName, 'cpu')!;
    const lend = (x: tf.TensorInfo): tf.TensorInfo => cpu.makeTensorInfo(x.shape, x.dtype, backend.readSync(x.dataId));
    const entries = Object.entries(inputs).filter(([, x]) => x);
    // Some kernels take a list instead of a record.
    const lent = Array.isArray(inputs)
      ? inputs.map(lend)
      : Object.fromEntries(entries.map(([name, x]) => [name, lend(x)]));
    const results = kernel.kernelFunc({
      inputs: lent as unknown as tf.NamedTensorInfoMap,
      attrs: attrs as tf.NamedAttrMap,
      backend: cpu,
    });
    const bring = (result: tf.TensorInfo): tf.TensorInfo =>
      backend.makeOutput(result.shape, result.dtype, undefined, cpu.readSync(result.dataId));
    const brought = Array.isArray(results) ? results.map(bring) : bring(results);
    for (const { dataId } of [...Object.values(lent), ...[results].flat()]) cpu.disposeData(dataId, true);
    return brought;
  };
}
