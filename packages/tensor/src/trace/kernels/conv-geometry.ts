import { fail } from '@coplay/core';
import { backend_util } from '@tensorflow/tfjs-core';
import type { Value } from '../../graph';

/** How a convolution lies over its input: lists have one entry for each spatial axis. */
export interface ConvGeometry {
  readonly batch: number;
  readonly inChannels: number;
  /** Of a depthwise convolution: inChannels times the multiplier. */
  readonly outChannels: number;
  readonly inSizes: readonly number[];
  readonly outSizes: readonly number[];
  readonly kernel: readonly number[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  /** Rows of padding before the input; what's after it follows from the sizes. */
  readonly before: readonly number[];
}

/** The attributes of tfjs's convolutions, by its names. */
export interface ConvAttrs {
  readonly strides: [number, number] | number;
  readonly pad: 'same' | 'valid' | number | backend_util.ExplicitPadding;
  readonly dataFormat?: 'NHWC' | 'NCHW';
  readonly dilations?: [number, number] | number | null;
  readonly dimRoundingMode?: 'floor' | 'round' | 'ceil';
  /** Of the input, for gradients with respect to it. */
  readonly inputShape?: readonly number[];
  /** Of the filter, for gradients with respect to it. */
  readonly filterShape?: readonly number[];
}

type Shape4D = [number, number, number, number];
type Shape5D = [number, number, number, number, number];

/** The geometry of a convolution over [N, H, W, C], or [N, C, H, W] for `NCHW`, as tfjs works it out. */
export function geometry2D(
  where: string,
  inShape: readonly number[],
  filterShape: readonly number[],
  attrs: ConvAttrs,
  isDepthwise: boolean,
): ConvGeometry {
  const { strides, pad, dimRoundingMode, dataFormat = 'NHWC' } = attrs;
  const dilations = attrs.dilations ?? 1; // tfjs-layers says null
  if (isDepthwise && dataFormat === 'NCHW') {
    fail(where, 'a depthwise convolution over NHWC', 'NCHW', 'Transpose around it.');
  }
  const info = backend_util.computeConv2DInfo(
    inShape as Shape4D,
    filterShape as Shape4D,
    strides,
    dilations,
    pad,
    dimRoundingMode,
    isDepthwise,
    backend_util.convertConv2DDataFormat(dataFormat),
  );
  const { padInfo } = info;
  return {
    batch: info.batchSize,
    inChannels: info.inChannels,
    outChannels: info.outChannels,
    inSizes: [info.inHeight, info.inWidth],
    outSizes: [info.outHeight, info.outWidth],
    kernel: [info.filterHeight, info.filterWidth],
    strides: [info.strideHeight, info.strideWidth],
    dilations: [info.dilationHeight, info.dilationWidth],
    before: [padInfo.top, padInfo.left],
  };
}

/** The attributes of tfjs's 3-d convolutions, by its names. */
export interface Conv3DAttrs {
  readonly strides: [number, number, number] | number;
  readonly pad: 'same' | 'valid';
  readonly dilations?: [number, number, number] | number;
  readonly inputShape?: readonly number[];
  readonly filterShape?: readonly number[];
}

/** The geometry of a convolution over [N, D, H, W, C], as tfjs works it out. */
export function geometry3D(
  inShape: readonly number[],
  filterShape: readonly number[],
  { strides, dilations = 1, pad }: Conv3DAttrs,
): ConvGeometry {
  const info = backend_util.computeConv3DInfo(inShape as Shape5D, filterShape as Shape5D, strides, dilations, pad);
  const { padInfo } = info;
  return {
    batch: info.batchSize,
    inChannels: info.inChannels,
    outChannels: info.outChannels,
    inSizes: [info.inDepth, info.inHeight, info.inWidth],
    outSizes: [info.outDepth, info.outHeight, info.outWidth],
    kernel: [info.filterDepth, info.filterHeight, info.filterWidth],
    strides: [info.strideDepth, info.strideHeight, info.strideWidth],
    dilations: [info.dilationDepth, info.dilationHeight, info.dilationWidth],
    before: [padInfo.front, padInfo.top, padInfo.left],
  };
}

/** Rows of the input that a filter covers along an axis, the gaps of its dilation included. */
export function extent({ kernel, dilations }: ConvGeometry, axis: number): number {
  return (kernel[axis] - 1) * dilations[axis] + 1;
}

/** The convolution's input, [N, ..., C]. */
export function inShapeOf({ batch, inSizes, inChannels }: ConvGeometry): readonly number[] {
  return [batch, ...inSizes, inChannels];
}

/** The convolution's output, [N, ..., O]. */
export function outShapeOf({ batch, outSizes, outChannels }: ConvGeometry): readonly number[] {
  return [batch, ...outSizes, outChannels];
}

/** The number of positions, or of taps: the product of sizes. */
export function count(sizes: readonly number[]): number {
  return sizes.reduce((product, size) => product * size, 1);
}

/** All combinations of one entry of each list, the last list's entries changing fastest. */
export function combinations(lists: readonly (readonly number[])[]): readonly (readonly number[])[] {
  return lists.reduce<readonly (readonly number[])[]>(
    (heads, list) => heads.flatMap((head) => list.map((entry) => [...head, entry])),
    [[]],
  );
}

/** 0, 1, ..., size - 1. */
export function range(size: number): readonly number[] {
  return Array.from({ length: size }, (_, i) => i);
}

/** Where a position lies in the list of all; `count(sizes)` if it's outside. */
export function flatIndex(position: readonly number[], sizes: readonly number[]): number {
  let index = 0;
  for (let axis = 0; axis < sizes.length; axis++) {
    if (position[axis] < 0 || position[axis] >= sizes[axis]) return count(sizes);
    index = index * sizes[axis] + position[axis];
  }
  return index;
}

/** float32 of a shape. */
export function float32(shape: readonly number[]): Value {
  return { shape, dtype: 'float32' };
}
