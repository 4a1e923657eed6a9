import type * as tf from '@tensorflow/tfjs-core';
import type { KernelArguments, Run } from './kernels';

const ACTIVATION_KERNELS: Record<string, string> = {
  relu: 'Relu',
  relu6: 'Relu6',
  elu: 'Elu',
  sigmoid: 'Sigmoid',
  leakyrelu: 'LeakyRelu',
  prelu: 'Prelu',
};

/**
 * The activation that a fused kernel ends with, as a kernel of its own: inside the fused ones it turns NaN into 0.
 *
 * @param alpha slopes of prelu
 */
export function activate(
  run: Run,
  x: tf.TensorInfo,
  attrs: KernelArguments['attrs'],
  alpha?: tf.TensorInfo,
): tf.TensorInfo {
  const kernelName = ACTIVATION_KERNELS[attrs['activation'] as string];
  if (kernelName === undefined) return x; // linear
  if (kernelName === 'Prelu') return run(kernelName, { x, alpha: alpha! });
  return run(kernelName, { x }, { alpha: attrs['leakyreluAlpha'] });
}
