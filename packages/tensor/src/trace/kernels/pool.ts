import { backend_util } from '@tensorflow/tfjs-core';
import { constant, elements, type GraphBuilder, indices, reshape, scalar, type Value } from '../../graph';
import { kernel } from '../kernel';

import { pad } from './padding';
import { slice, transpose } from './shapes';
import { inFloat } from './unary';

interface PoolAttrs {
  readonly filterSize: number;
  readonly strides: number;
  readonly pad: 'valid' | 'same' | number;
  readonly dimRoundingMode?: 'floor' | 'round' | 'ceil';
}

/** A window that moves along one direction. */
interface Direction {
  /** Entries before pooling. */
  readonly size: number;
  /** Windows. */
  readonly count: number;
  readonly filter: number;
  readonly stride: number;
  /** Padding before the first entry. */
  readonly before: number;
  /** How far the last window reaches beyond the last entry; negative where entries are left over. */
  readonly beyond: number;
}

/** Pooling of [B, H, W, C] and [B, D, H, W, C], with gradients. */
export function registerPool(): void {
  for (const suffix of ['', '3D']) {
    kernel<PoolAttrs>(`MaxPool${suffix}`, ({ inputs: { x }, attrs, graph }) =>
      inFloat(graph, x!, (y) => maxPool(graph, y, directionsOf(y.shape, attrs))),
    );
    kernel<PoolAttrs>(`AvgPool${suffix}`, ({ inputs: { x }, attrs, graph }) =>
      averagePool(graph, x!, directionsOf(x!.shape, attrs)),
    );
    kernel<PoolAttrs>(`MaxPool${suffix}Grad`, ({ inputs: { dy, input }, attrs, graph }) =>
      maxPoolGradient(graph, dy!, input!, directionsOf(input!.shape, attrs)),
    );
    kernel<PoolAttrs>(`AvgPool${suffix}Grad`, ({ inputs: { dy, input }, attrs, graph }) =>
      averagePoolGradient(graph, dy!, directionsOf(input!.shape, attrs)),
    );
  }
}

function directionsOf(shape: readonly number[], attrs: PoolAttrs): readonly Direction[] {
  const { filterSize, strides, pad: padding, dimRoundingMode } = attrs;
  if (shape.length === 4) {
    const s = [...shape] as [number, number, number, number];
    const info = backend_util.computePool2DInfo(s, filterSize, strides, 1, padding, dimRoundingMode);
    return [
      direction(info.inHeight, info.outHeight, info.filterHeight, info.strideHeight, info.padInfo.top),
      direction(info.inWidth, info.outWidth, info.filterWidth, info.strideWidth, info.padInfo.left),
    ];
  }
  const s = [...shape] as [number, number, number, number, number];
  const info = backend_util.computePool3DInfo(s, filterSize, strides, 1, padding, dimRoundingMode);
  return [
    direction(info.inDepth, info.outDepth, info.filterDepth, info.strideDepth, info.padInfo.front),
    direction(info.inHeight, info.outHeight, info.filterHeight, info.strideHeight, info.padInfo.top),
    direction(info.inWidth, info.outWidth, info.filterWidth, info.strideWidth, info.padInfo.left),
  ];
}

function direction(size: number, count: number, filter: number, stride: number, before: number): Direction {
  return { size, count, filter, stride, before, beyond: (count - 1) * stride + filter - size - before };
}

/** [B, ..., C] to [B, C, ...], which is ONNX's order. */
function channelsFirst(graph: GraphBuilder, x: Value): Value {
  const axes = [...x.shape.keys()];
  return transpose(graph, x, [0, axes.length - 1, ...axes.slice(1, -1)]);
}

function channelsLast(graph: GraphBuilder, x: Value): Value {
  const axes = [...x.shape.keys()];
  return transpose(graph, x, [0, ...axes.slice(2), 1]);
}

function windowAttributes(directions: readonly Direction[]) {
  return {
    kernel_shape: directions.map(({ filter }) => filter),
    strides: directions.map(({ stride }) => stride),
    pads: [...directions.map(({ before }) => before), ...directions.map(({ beyond }) => Math.max(0, beyond))],
  };
}

function pooledShape(planes: Value, directions: readonly Direction[]): readonly number[] {
  return [planes.shape[0], planes.shape[1], ...directions.map(({ count }) => count)];
}

function maxPool(graph: GraphBuilder, x: Value, directions: readonly Direction[]): Value {
  const planes = channelsFirst(graph, x);
  const spec = { shape: pooledShape(planes, directions), dtype: x.dtype };
  return channelsLast(graph, graph.op('MaxPool', [planes], spec, windowAttributes(directions)));
}

/** Of the entries in a window: padding doesn't count. */
function averagePool(graph: GraphBuilder, x: Value, directions: readonly Direction[]): Value {
  const planes = channelsFirst(graph, x);
  const spec = { shape: pooledShape(planes, directions), dtype: x.dtype };
  const attributes = { ...windowAttributes(directions), count_include_pad: 0 };
  return channelsLast(graph, graph.op('AveragePool', [planes], spec, attributes));
}

/** Each gradient goes to the first largest entry of its window. */
function maxPoolGradient(graph: GraphBuilder, dy: Value, x: Value, directions: readonly Direction[]): Value {
  const planes = channelsFirst(graph, x);
  const shape = pooledShape(planes, directions);
  const spec: Value[] = [
    { shape, dtype: 'float32' },
    { shape, dtype: 'int64' },
  ];
  const [, places] = graph.ops('MaxPool', [planes], spec, windowAttributes(directions));
  const total = [elements(planes)];
  const zeros = graph.op('Expand', [scalar(0), indices(total)], { shape: total, dtype: 'float32' });
  const flat = [elements(dy)];
  const parts = [zeros, reshape(graph, places, flat), reshape(graph, channelsFirst(graph, dy), flat)];
  const overlap = directions.some(({ filter, stride }) => filter > stride);
  const dx = graph.op('ScatterElements', parts, zeros, { axis: 0, reduction: overlap ? 'add' : 'none' });
  return channelsLast(graph, reshape(graph, dx, planes.shape));
}

/** Each gradient is spread over the entries of its window, in equal shares. */
function averagePoolGradient(graph: GraphBuilder, dy: Value, directions: readonly Direction[]): Value {
  const perDirection = directions.map(shares);
  const all = perDirection.reduce((factors, some) => factors.flatMap((a) => some.map((b) => a * b)), [1]);
  const factors = constant(Float32Array.from(all), [1, ...directions.map(({ count }) => count), 1], 'float32');
  const share = graph.op('Mul', [dy, factors], dy);
  const isTiling = directions.every(({ filter, stride, before }) => filter === stride && before === 0);
  return isTiling ? spreadTiles(graph, share, directions) : spreadWindows(graph, share, directions);
}

/** 1 / the number of entries in each window of a direction. */
function shares({ size, count, filter, stride, before }: Direction): number[] {
  return Array.from({ length: count }, (_, i) => {
    const start = i * stride - before;
    return 1 / (Math.min(size, start + filter) - Math.max(0, start));
  });
}

/** Windows side by side: each number is repeated. */
function spreadTiles(graph: GraphBuilder, dy: Value, directions: readonly Direction[]): Value {
  const [batch, channels] = [dy.shape[0], dy.shape.at(-1)!];
  const apart = [batch, ...directions.flatMap(({ count }) => [count, 1]), channels];
  const repeated = [batch, ...directions.flatMap(({ count, filter }) => [count, filter]), channels];
  const blocks = graph.op('Expand', [reshape(graph, dy, apart), indices(repeated)], {
    shape: repeated,
    dtype: dy.dtype,
  });
  const whole = reshape(graph, blocks, [batch, ...directions.map(({ count, filter }) => count * filter), channels]);
  const sizes = [batch, ...directions.map(({ size, count, filter }) => Math.min(size, count * filter)), channels];
  const cut = slice(graph, whole, Array(sizes.length).fill(0), sizes);
  const rest = directions.map(({ size, count, filter }): [number, number] => [0, Math.max(0, size - count * filter)]);
  return pad(graph, cut, [[0, 0], ...rest, [0, 0]]);
}

/** Windows that overlap or hang over the border: a transposed convolution with ones, channel by channel. */
function spreadWindows(graph: GraphBuilder, dy: Value, directions: readonly Direction[]): Value {
  const planes = channelsFirst(graph, dy);
  const [batch, channels] = planes.shape;
  const single = reshape(graph, planes, [batch * channels, 1, ...directions.map(({ count }) => count)]);
  const window = [1, 1, ...directions.map(({ filter }) => filter)];
  const ones = constant(new Float32Array(elements({ shape: window, dtype: 'float32' })).fill(1), window, 'float32');
  const sizes = directions.map(({ size }) => size);
  const spec = { shape: [batch * channels, 1, ...sizes], dtype: dy.dtype };
  const dx = graph.op('ConvTranspose', [single, ones], spec, {
    ...windowAttributes(directions),
    output_padding: directions.map(({ beyond }) => Math.max(0, -beyond)),
  });
  return channelsLast(graph, reshape(graph, dx, [batch, channels, ...sizes]));
}
