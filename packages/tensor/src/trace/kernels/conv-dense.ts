import { type GraphBuilder, reshape, type Value } from '../../graph';

import { type ConvGeometry, count, float32, inShapeOf, outShapeOf } from './conv-geometry';
import { canBeNative, nativeConv, nativeInputGradient } from './conv-native';
import { patches, readers } from './conv-patches';
import { slice, transpose } from './shapes';

/**
 * Numbers in the patches of a convolution, above which ONNX Runtime's own Conv is taken: 8 MB. Measured: patches and
 * one matrix product are 1.3 to 1.9 times as fast with a few MB, as fast with about 12 MB, slower with more.
 */
const PATCH_LIMIT = 2 * 1024 * 1024;

/** Numbers in the patches that one matrix product takes, where the filter's gradient is added up piece by piece. */
const PIECE_LIMIT = 1024 * 1024;

/**
 * A convolution as one matrix product: patches [N P, T C] times filter [T C, O]; ONNX Runtime's own where that's
 * faster. With a filter that is known ahead (policies whose weights are constants) it lays out filter and channels for
 * the processor, and is 1.05 to 4 times as fast with 1 to 1024 images of 8x8; but not where a tap is all of the filter,
 * and patches are no copies.
 *
 * @param x      [N, ..., C]
 * @param filter [..., C, O]
 * @returns [N, ..., O]
 */
export function convolve(
  graph: GraphBuilder,
  x: Value,
  filter: Value,
  geometry: ConvGeometry,
  limit = PATCH_LIMIT,
): Value {
  const { batch, inChannels, outChannels, outSizes, kernel } = geometry;
  const rows = batch * count(outSizes);
  const patchSize = count(kernel) * inChannels;
  const isKnown = filter.constant !== undefined && count(kernel) > 1;
  if ((isKnown || rows * patchSize > limit) && canBeNative(geometry)) return nativeConv(graph, x, filter, geometry);
  const columns = reshape(graph, patches(graph, x, geometry), [rows, patchSize]);
  const matrix = reshape(graph, filter, [patchSize, outChannels]);
  return reshape(graph, product(graph, columns, matrix), outShapeOf(geometry));
}

/**
 * The gradient with respect to the input: each position takes from the outputs that read it, [N Q, T O] times [T O, C].
 * With a stride most of them would be zeros, and ConvTranspose is faster.
 *
 * @param dy     [N, ..., O]
 * @param filter [..., C, O]
 * @returns [N, ..., C]
 */
export function inputGradient(
  graph: GraphBuilder,
  dy: Value,
  filter: Value,
  geometry: ConvGeometry,
  limit = PATCH_LIMIT,
): Value {
  const { batch, inChannels, outChannels, inSizes, kernel, strides } = geometry;
  const rows = batch * count(inSizes);
  const patchSize = count(kernel) * outChannels;
  const isNative = rows * patchSize > limit || count(strides) > 1;
  if (isNative && canBeNative(geometry)) return nativeInputGradient(graph, dy, filter, geometry);
  const columns = reshape(graph, readers(graph, dy, geometry), [rows, patchSize]);
  const taps = transpose(graph, reshape(graph, filter, [count(kernel), inChannels, outChannels]), [0, 2, 1]);
  const matrix = reshape(graph, taps, [patchSize, inChannels]);
  return reshape(graph, product(graph, columns, matrix), inShapeOf(geometry));
}

/**
 * The gradient with respect to the filter: patches, transposed, times dy. Large ones image by image, the products added
 * up, so that the patches are never there all at once.
 *
 * @param x  [N, ..., C]
 * @param dy [N, ..., O]
 * @returns [..., C, O]
 */
export function filterGradient(
  graph: GraphBuilder,
  x: Value,
  dy: Value,
  geometry: ConvGeometry,
  limit = PATCH_LIMIT,
): Value {
  const { batch, inChannels, outChannels, outSizes, kernel } = geometry;
  const patchSize = count(kernel) * inChannels;
  const perImage = count(outSizes) * patchSize;
  const isLarge = batch * perImage > limit;
  const step = isLarge ? Math.max(1, Math.floor(Math.min(limit, PIECE_LIMIT) / perImage)) : batch;
  let sum: Value | undefined;
  for (let begin = 0; begin < batch; begin += step) {
    const images = Math.min(step, batch - begin);
    const rows = images * count(outSizes);
    const columns = patches(graph, imagesOf(graph, x, begin, images), geometry);
    const gradients = imagesOf(graph, dy, begin, images);
    const operands = [reshape(graph, columns, [rows, patchSize]), reshape(graph, gradients, [rows, outChannels])];
    const output = float32([patchSize, outChannels]);
    sum = graph.op('Gemm', sum ? [...operands, sum] : operands, output, { transA: 1 });
  }
  return reshape(graph, sum!, [...kernel, inChannels, outChannels]);
}

function imagesOf(graph: GraphBuilder, x: Value, begin: number, images: number): Value {
  return slice(graph, x, [begin, ...x.shape.slice(1).map(() => 0)], [images, ...x.shape.slice(1)]);
}

function product(graph: GraphBuilder, a: Value, b: Value): Value {
  return graph.op('MatMul', [a, b], float32([a.shape[0], b.shape[1]]));
}
