import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import { compose, type KernelArguments, replaceKernel } from './kernels';

type Shape4D = [number, number, number, number];

/**
 * The gradients of a convolution, as matrix products over patches: with respect to the filter tfjs lacks it on wasm,
 * with respect to the input it's several times slower.
 */
export function mendConv2DGradients(): void {
  replaceKernel('Conv2DBackpropFilter', backpropFilter);
  replaceKernel('Conv2DBackpropInput', backpropInput);
}

/** (patches of x)^T [kh kw C, P] times dy [P, O], over the P = N oh ow positions of the output. */
function backpropFilter({ inputs, attrs, backend }: KernelArguments): tf.TensorInfo {
  const { x, dy } = inputs;
  const filterShape = attrs['filterShape'] as Shape4D;
  const info = convolution(x.shape as Shape4D, filterShape, attrs);
  return compose(backend, (run, own) => {
    const patches = own(imageToColumns(backend, x, info));
    const gradients = run('Reshape', { x: dy }, { shape: [patches.shape[0], info.outChannels] });
    const product = run('BatchMatMul', { a: patches, b: gradients }, { transposeA: true, transposeB: false });
    return run('Reshape', { x: product }, { shape: filterShape });
  });
}

/** dy [P, O] times filter^T [O, kh kw C] is the gradient of each patch; patches are added up where they overlap. */
function backpropInput({ inputs, attrs, backend }: KernelArguments): tf.TensorInfo {
  const { dy, filter } = inputs;
  const info = convolution(attrs['inputShape'] as Shape4D, filter.shape as Shape4D, attrs);
  const patchSize = info.filterHeight * info.filterWidth * info.inChannels;
  const positions = info.batchSize * info.outHeight * info.outWidth;
  return compose(backend, (run) => {
    const gradients = run('Reshape', { x: dy }, { shape: [positions, info.outChannels] });
    const weights = run('Reshape', { x: filter }, { shape: [patchSize, info.outChannels] });
    const patches = run('BatchMatMul', { a: gradients, b: weights }, { transposeA: false, transposeB: true });
    return columnsToImage(backend, patches, info);
  });
}

function convolution(
  inputShape: Shape4D,
  filterShape: Shape4D,
  attrs: KernelArguments['attrs'],
): tf.backend_util.Conv2DInfo {
  const { strides, pad, dimRoundingMode, dataFormat } = attrs as {
    strides: number;
    pad: 'same';
    dimRoundingMode?: 'floor';
    dataFormat?: 'NHWC';
  };
  const layout = tf.backend_util.convertConv2DDataFormat(dataFormat ?? 'NHWC');
  return tf.backend_util.computeConv2DInfo(inputShape, filterShape, strides, 1, pad, dimRoundingMode, false, layout);
}

/** [N, H, W, C] to [P, kh kw C]: for each position of the output the inputs under the filter, 0 in the padding. */
function imageToColumns(backend: BackendWasm, x: tf.TensorInfo, info: tf.backend_util.Conv2DInfo): tf.TensorInfo {
  const patchSize = info.filterHeight * info.filterWidth * info.inChannels;
  const positions = info.batchSize * info.outHeight * info.outWidth;
  const columns = backend.makeOutput([positions, patchSize], 'float32');
  const image = backend.typedArrayFromHeap(x) as Float32Array;
  const target = (backend.typedArrayFromHeap(columns) as Float32Array).fill(0);
  forEachRun(info, (inImage, inColumns, length) => {
    if (length > SHORT_RUN) target.set(image.subarray(inImage, inImage + length), inColumns);
    else for (let i = 0; i < length; i++) target[inColumns + i] = image[inImage + i];
  });
  return columns;
}

/** For runs this short a loop is faster than a call. */
const SHORT_RUN = 32;

/** The reverse: adds every patch to its place in the image. */
function columnsToImage(backend: BackendWasm, columns: tf.TensorInfo, info: tf.backend_util.Conv2DInfo): tf.TensorInfo {
  const result = backend.makeOutput(info.inShape, 'float32');
  const source = backend.typedArrayFromHeap(columns) as Float32Array;
  const image = (backend.typedArrayFromHeap(result) as Float32Array).fill(0);
  forEachRun(info, (inImage, inColumns, length) => {
    for (let i = 0; i < length; i++) image[inImage + i] += source[inColumns + i];
  });
  return result;
}

/**
 * Calls `visit` for each row of each patch, as far as it lies inside the image: where it begins in both, and its
 * length.
 */
function forEachRun(
  info: tf.backend_util.Conv2DInfo,
  visit: (inImage: number, inColumns: number, length: number) => void,
): void {
  const { inHeight, inWidth, inChannels, outHeight, outWidth, filterHeight, filterWidth } = info;
  const rowLength = filterWidth * inChannels;
  const positions = info.batchSize * outHeight * outWidth;
  for (let position = 0; position < positions; position++) {
    const column = position % outWidth;
    const row = Math.floor(position / outWidth) % outHeight;
    const image = Math.floor(position / (outWidth * outHeight));
    const left = column * info.strideWidth - info.padInfo.left;
    const top = row * info.strideHeight - info.padInfo.top;
    const first = Math.max(left, 0);
    const length = (Math.min(left + filterWidth, inWidth) - first) * inChannels;
    if (length <= 0) continue;
    for (let y = Math.max(top, 0); y < Math.min(top + filterHeight, inHeight); y++) {
      const inImage = ((image * inHeight + y) * inWidth + first) * inChannels;
      const inColumns = (position * filterHeight + y - top) * rowLength + (first - left) * inChannels;
      visit(inImage, inColumns, length);
    }
  }
}
