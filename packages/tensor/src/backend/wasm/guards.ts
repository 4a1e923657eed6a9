import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import { borrowed } from './borrow';
import { type KernelArguments, registeredKernel, replaceKernel } from './kernels';

/**
 * Kernels that are right for every dtype. The others read booleans as if they had four bytes, and write past the end.
 */
const ANY_DTYPE = new Set([
  ...['All', 'Any', 'BroadcastArgs', 'Cast', 'Concat', 'Equal', 'ExpandDims', 'Fill', 'GatherV2', 'Greater'],
  ...['GreaterEqual', 'Identity', 'Less', 'LessEqual', 'LogicalAnd', 'LogicalNot', 'LogicalOr', 'NotEqual', 'OnesLike'],
  ...['Pack', 'Reshape', 'Slice', 'SplitV', 'Transpose', 'Unpack', 'ZerosLike'],
]);

/** Kernels that are right for float32 and int32. All others read int32 as float32. */
const NUMBERS = new Set([
  ...['Add', 'AddN', 'BitwiseAnd', 'Maximum', 'Minimum', 'Sub'],
  ...['Max', 'Mean', 'Min', 'Sum', 'ArgMax', 'ArgMin', 'Cumprod', 'Cumsum', 'TopK'],
  ...['BatchToSpaceND', 'GatherNd', 'MirrorPad', 'PadV2', 'Reverse', 'ScatterNd', 'Select', 'SpaceToBatchND'],
  ...['TensorScatterUpdate', 'Tile', 'OneHot'],
]);

/** Where kernels are wrong for float32 too. */
const FLAWS: Readonly<Record<string, (given: KernelArguments) => boolean>> = {
  AvgPool: (given) => isUneven(given) || hasNaN(given),
  ClipByValue: hasNaN,
  Conv2D: isUneven,
  Cumprod: isScalar,
  Cumsum: isScalar,
  DepthwiseConv2dNative: isUneven,
  FloorDiv: always,
  FusedConv2D: isUneven,
  FusedDepthwiseConv2D: isUneven,
  GatherV2: ({ attrs }) => attrs['batchDims'] !== 0,
  MaxPool: (given) => isUneven(given) || hasNaN(given),
  Maximum: hasNaN,
  Minimum: hasNaN,
  Mod: always,
  OneHot: ({ attrs }) => attrs['dtype'] !== 'int32',
  Pow: always,
  Prelu: (given) => isSpread(given) || hasInfiniteSlope(given),
  Relu6: hasNaN,
  Sign: always,
};

function always(): boolean {
  return true;
}

/** Whether the slopes of prelu don't fit into the shape of `x`, which is the shape that the kernel gives its result. */
function isSpread({ inputs: { x, alpha } }: KernelArguments): boolean {
  return !tf.util.arraysEqual(tf.broadcast_util.assertAndGetBroadcastShape(x.shape, alpha.shape), x.shape);
}

/** The kernel adds slope x min(x, 0), which of an infinite slope is NaN where x is positive. */
function hasInfiniteSlope({ inputs: { alpha }, backend }: KernelArguments): boolean {
  return !(backend.typedArrayFromHeap(alpha) as Float32Array).every(Number.isFinite);
}

/** Along the axis of a scalar the kernels go on for ever. */
function isScalar({ inputs: { x } }: KernelArguments): boolean {
  return x.shape.length === 0;
}

/** Sends what tfjs's kernels for wasm get wrong to the JavaScript backend. */
export function guardKernels(): void {
  for (const { kernelName } of tf.getKernelsForBackend('wasm')) {
    if (!tf.getKernel(kernelName, 'cpu')) continue;
    const own = registeredKernel(kernelName);
    const lent = borrowed(kernelName);
    replaceKernel(kernelName, (given) => (isRight(kernelName, given) ? own(given) : lent(given)));
  }
}

function isRight(kernelName: string, given: KernelArguments): boolean {
  for (const name in given.inputs) {
    const x = given.inputs[name];
    if (x && !isReadRight(kernelName, name, x)) return false;
  }
  return !FLAWS[kernelName]?.(given);
}

/** No kernel expects an empty tensor: several leave their result as memory happens to be. */
function isReadRight(kernelName: string, name: string, { shape, dtype }: tf.TensorInfo): boolean {
  if (shape.includes(0)) return false;
  if (dtype === 'float32' || ANY_DTYPE.has(kernelName)) return true;
  if (dtype === 'int32') return NUMBERS.has(kernelName);
  return kernelName === 'Select' && name === 'condition';
}

/**
 * Whether padding is a number and the window isn't a square, or strides differ: tfjs takes the size of the result from
 * the height alone, and the library behind the kernel, which knows better, writes past its end.
 */
function isUneven({ inputs: { filter }, attrs }: KernelArguments): boolean {
  if (typeof attrs['pad'] !== 'number') return false;
  const window = filter ? filter.shape.slice(0, 2) : attrs['filterSize'];
  return [window, attrs['strides'], attrs['dilations']].some((pair) => Array.isArray(pair) && pair[0] !== pair[1]);
}

/** Whether an input of float32 has a NaN, which the library behind the kernel drops. */
function hasNaN({ inputs, backend }: KernelArguments): boolean {
  return Object.values(inputs).some((x) => x?.dtype === 'float32' && someNaN(backend, x));
}

function someNaN(backend: BackendWasm, x: tf.TensorInfo): boolean {
  const data = backend.typedArrayFromHeap(x);
  for (let i = 0; i < data.length; i++) if (Number.isNaN(data[i])) return true;
  return false;
}
