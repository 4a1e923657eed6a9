import * as tf from '@tensorflow/tfjs-core';

/**
 * tfjs's gradients of average pooling divide by the size of the window, but at a padded border the average is taken
 * over fewer values. Here `dy` is multiplied by window / values before the kernel sees it.
 */
export function mendAveragePoolGradients(backendName: 'cpu' | 'wasm'): void {
  mend('AvgPoolGrad', backendName, (x, attrs) => {
    const { filterSize, strides, pad, dimRoundingMode } = attrs;
    const shape = x.shape as [number, number, number, number];
    const info = tf.backend_util.computePool2DInfo(shape, filterSize, strides, 1, pad, dimRoundingMode);
    const { top, left } = info.padInfo;
    return [
      ratios(info.outHeight, info.inHeight, info.filterHeight, info.strideHeight, top),
      ratios(info.outWidth, info.inWidth, info.filterWidth, info.strideWidth, left),
    ];
  });
  mend('AvgPool3DGrad', backendName, (x, attrs) => {
    const { filterSize, strides, pad, dimRoundingMode } = attrs;
    const shape = x.shape as [number, number, number, number, number];
    const info = tf.backend_util.computePool3DInfo(shape, filterSize, strides, 1, pad, dimRoundingMode);
    const { front, top, left } = info.padInfo;
    return [
      ratios(info.outDepth, info.inDepth, info.filterDepth, info.strideDepth, front),
      ratios(info.outHeight, info.inHeight, info.filterHeight, info.strideHeight, top),
      ratios(info.outWidth, info.inWidth, info.filterWidth, info.strideWidth, left),
    ];
  });
}

interface PoolAttributes {
  readonly filterSize: number;
  readonly strides: number;
  readonly pad: 'valid' | 'same' | number;
  readonly dimRoundingMode?: 'floor' | 'round' | 'ceil';
}

/** The dimensions are independent: the ratio of an output is the product of one number per dimension. */
function mend(
  kernelName: string,
  backendName: string,
  ratiosOf: (x: tf.TensorInfo, attrs: PoolAttributes) => number[][],
): void {
  const original = tf.getKernel(kernelName, backendName)!;
  tf.unregisterKernel(kernelName, backendName);
  tf.registerKernel({
    ...original,
    kernelFunc: ({ inputs, attrs, backend }) => {
      const { dy, input } = inputs as Record<string, tf.TensorInfo>;
      const perDimension = ratiosOf(input, attrs as unknown as PoolAttributes);
      const factors = perDimension.reduce((all, ratio) => all.flatMap((a) => ratio.map((b) => a * b)), [1]);
      const shape = [1, ...perDimension.map(({ length }) => length), 1];
      const dataId = (backend as tf.KernelBackend).write(Float32Array.from(factors), shape, 'float32');
      const multiply = tf.getKernel('Multiply', backendName)!;
      const scaled = multiply.kernelFunc({
        inputs: { a: dy, b: { dataId, shape, dtype: 'float32' } },
        backend,
      }) as tf.TensorInfo;
      const result = original.kernelFunc({ inputs: { ...inputs, dy: scaled }, attrs: attrs!, backend });
      for (const id of [dataId, scaled.dataId]) (backend as tf.KernelBackend).disposeData(id);
      return result;
    },
  });
}

/** For each output position along one dimension: size of the window / values of the input that it covers. */
function ratios(outputs: number, inputs: number, window: number, stride: number, before: number): number[] {
  return Array.from({ length: outputs }, (_, i) => {
    const start = i * stride - before;
    return window / (Math.min(start + window, inputs) - Math.max(start, 0));
  });
}
