import { constant, type GraphBuilder, type Value } from '../../graph';
import { reshape } from './arithmetic';
import { type ConvGeometry, count, float32, outShapeOf } from './conv-geometry';
import { canBeNative, nativeConv, nativeInputGradient } from './conv-native';
import { joinPhases, type Phase, patches, phases, takeRows } from './conv-patches';
import { slice, transpose } from './shapes';

/**
 * Numbers in the patches of a convolution, above which ONNX Runtime's own Conv is taken: 16 MB. Measured with 3x3 filters:
 * patches and one matrix product are 1.3 to 1.9 times as fast up to a few MB, as fast at 16 MB, slower beyond.
 */
export const PATCH_LIMIT = 4 * 1024 * 1024;

/** More phases than this (strides of 5 x 5 and more) are too many nodes: the input's gradient becomes a ConvTranspose. */
const MAX_PHASES = 16;

/** Numbers in the patches that one matrix product of the filter's gradient takes. */
const CHUNK_LIMIT = 1024 * 1024;

/**
 * A convolution as one matrix product: patches [N P, T C] times filter [T C, O].
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
  if (rows * patchSize > limit && canBeNative(geometry)) return nativeConv(graph, x, filter, geometry);
  const columns = reshape(graph, patches(graph, x, geometry), [rows, patchSize]);
  const matrix = reshape(graph, filter, [patchSize, outChannels]);
  return reshape(graph, product(graph, columns, matrix), outShapeOf(geometry));
}

/**
 * The gradient with respect to the input. Each position of the input takes from the positions of the output that read it:
 * [N P, T O] times [T O, C]. With a stride, only every so manieth tap reaches a position, so that's one product for each phase.
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
  const { batch, outChannels, inSizes, kernel, strides, inChannels, outSizes } = geometry;
  const size = (batch * count(inSizes) * count(kernel) * outChannels) / count(strides);
  const isLarge = size > limit || count(strides) > MAX_PHASES;
  if (isLarge && canBeNative(geometry)) return nativeInputGradient(graph, dy, filter, geometry);
  const split = phases(geometry);
  const flat = reshape(graph, dy, [batch, count(outSizes), outChannels]);
  const taps = transpose(graph, reshape(graph, filter, [count(kernel), inChannels, outChannels]), [0, 2, 1]);
  const parts = split.map((phase) => phaseGradient(graph, flat, taps, phase));
  return joinPhases(graph, parts, split, geometry);
}

/** @returns [N, P, C] of dy [N, outputs, O] and the filter's taps [T, O, C] */
function phaseGradient(graph: GraphBuilder, dy: Value, filter: Value, { positions, taps, readers }: Phase): Value {
  const [batch, , outChannels] = dy.shape;
  const [all, , channels] = filter.shape;
  const shape = [batch, positions.length, channels];
  if (taps.length === 0) return constant(new Float32Array(count(shape)), shape, 'float32');
  const columns = reshape(graph, takeRows(graph, dy, readers), [batch * positions.length, taps.length * outChannels]);
  const used = takeRows(graph, reshape(graph, filter, [1, all, outChannels * channels]), taps);
  return reshape(graph, product(graph, columns, reshape(graph, used, [taps.length * outChannels, channels])), shape);
}

/**
 * The gradient with respect to the filter: patches, transposed, times dy. Large ones batch by batch, the products added up, so
 * that the patches are never there all at once.
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
  const step = batch * perImage > limit ? Math.max(1, Math.floor(Math.min(limit, CHUNK_LIMIT) / perImage)) : batch;
  const output = float32([patchSize, outChannels]);
  let sum: Value | undefined;
  for (let begin = 0; begin < batch; begin += step) {
    const images = Math.min(step, batch - begin);
    const columns = patches(graph, rowsOf(graph, x, begin, images), geometry);
    const gradients = rowsOf(graph, dy, begin, images);
    const rows = images * count(outSizes);
    const operands = [reshape(graph, columns, [rows, patchSize]), reshape(graph, gradients, [rows, outChannels])];
    sum = graph.op('Gemm', sum ? [...operands, sum] : operands, output, { transA: 1 });
  }
  return reshape(graph, sum!, [...kernel, inChannels, outChannels]);
}

function rowsOf(graph: GraphBuilder, x: Value, begin: number, size: number): Value {
  return slice(graph, x, [begin, ...x.shape.slice(1).map(() => 0)], [size, ...x.shape.slice(1)]);
}

function product(graph: GraphBuilder, a: Value, b: Value): Value {
  return graph.op('MatMul', [a, b], float32([a.shape[0], b.shape[1]]));
}
