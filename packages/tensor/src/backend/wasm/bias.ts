import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import type * as tf from '@tensorflow/tfjs-core';
import { activate } from './activate';
import { compose, type KernelArguments, registeredKernel, replaceKernel, type WasmKernel } from './kernels';

/**
 * The fused convolutions refuse a bias that came out of a reshape (see {@link withBias}), and lose NaN in their
 * activation.
 */
export function mendBiases(): void {
  for (const kernelName of ['FusedConv2D', 'FusedDepthwiseConv2D']) {
    const fused = registeredKernel(kernelName);
    replaceKernel(kernelName, (given) => fusedConvolution(fused, given));
  }
}

function fusedConvolution(fused: WasmKernel, { inputs, attrs, backend }: KernelArguments): tf.TensorInfo {
  const { x, filter, bias, preluActivationWeights: alpha } = inputs;
  const linear = { ...attrs, activation: 'linear' };
  return compose(backend, (run, own) => {
    const sum = withBias(backend, bias, (ownBias) =>
      fused({ inputs: { x, filter, ...(ownBias && { bias: ownBias }) }, attrs: linear, backend }),
    );
    return activate(run, own(sum), attrs, alpha);
  });
}

/**
 * tfjs's fused kernels look at the shape that a bias's data had when they were made, not at the shape it has now, so
 * that a reshaped vector is refused. Where the two differ they get a copy.
 */
export function withBias(
  backend: BackendWasm,
  bias: tf.TensorInfo | undefined,
  run: (bias: tf.TensorInfo | undefined) => tf.TensorInfo | tf.TensorInfo[],
): tf.TensorInfo {
  if (!bias || backend.dataIdMap.get(bias.dataId).shape.length === bias.shape.length) return run(bias) as tf.TensorInfo;
  const copy = backend.makeOutput(bias.shape, bias.dtype, undefined, backend.typedArrayFromHeap(bias).slice());
  const result = run(copy) as tf.TensorInfo;
  backend.disposeData(copy.dataId);
  return result;
}
