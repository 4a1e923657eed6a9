import * as tf from '@tensorflow/tfjs-core';
import { type KernelArguments, replaceKernel } from './kernels';

/** The gradient of a gather (and so of an embedding), which tfjs lacks on wasm. */
export function addUnsortedSegmentSum(): void {
  replaceKernel('UnsortedSegmentSum', unsortedSegmentSum);
}

/** Adds up the rows of x [rows, ...] that have the same segment: [numSegments, ...]. Negative segments are left out. */
function unsortedSegmentSum({ inputs, attrs, backend }: KernelArguments): tf.TensorInfo {
  const { x, segmentIds } = inputs;
  const segments = attrs['numSegments'] as number;
  const rank = segmentIds.shape.length;
  const inner = x.shape.slice(rank);
  const length = tf.util.sizeFromShape(inner);
  const result = backend.makeOutput([segments, ...inner], x.dtype);
  const source = backend.typedArrayFromHeap(x);
  const ids = backend.typedArrayFromHeap(segmentIds);
  const target = backend.typedArrayFromHeap(result).fill(0);
  for (let row = 0; row < ids.length; row++) {
    if (ids[row] < 0 || ids[row] >= segments) continue;
    for (let i = 0; i < length; i++) target[ids[row] * length + i] += source[row * length + i];
  }
  return result;
}
