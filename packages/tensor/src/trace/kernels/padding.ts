import { backend_util, slice_util } from '@tensorflow/tfjs-core';
import { constant, type GraphBuilder, indices, reshape, scalar, type Value } from '../../graph';
import { kernel } from '../kernel';

import { filled } from './constants';
import { slice, transpose } from './shapes';

type Paddings = readonly (readonly [number, number])[];

/** Kernels that add a border, step through, or fold space into batch or channels. */
export function registerPadding(): void {
  kernel<{ paddings: Paddings; constantValue: number }>('PadV2', ({ inputs: { x }, attrs, graph }) =>
    pad(graph, x!, attrs.paddings, attrs.constantValue),
  );
  kernel<{ paddings: Paddings; mode: 'reflect' | 'symmetric' }>('MirrorPad', ({ inputs: { x }, attrs, graph }) =>
    attrs.paddings.reduce((padded, around, axis) => mirror(graph, padded, axis, around, attrs.mode), x!),
  );
  kernel<StridedSliceAttrs>('StridedSlice', ({ inputs: { x }, attrs, graph }) => stridedSlice(graph, x!, attrs));
  registerFolds();
}

/** A value with a border of one number. */
export function pad(graph: GraphBuilder, x: Value, paddings: Paddings, value = 0): Value {
  if (paddings.every(([before, after]) => before === 0 && after === 0)) return x;
  const shape = x.shape.map((size, axis) => size + paddings[axis][0] + paddings[axis][1]);
  if (x.shape.includes(0)) return filled(shape, value, x.dtype);
  const amounts = [...paddings.map(([before]) => before), ...paddings.map(([, after]) => after)];
  return graph.op('Pad', [x, indices(amounts), scalar(value, x.dtype)], { shape, dtype: x.dtype });
}

/**
 * Reflection leaves out the edge itself, symmetric padding repeats it. ONNX knows only the first: both are lookups
 * here.
 */
function mirror(
  graph: GraphBuilder,
  x: Value,
  axis: number,
  [before, after]: readonly [number, number],
  mode: 'reflect' | 'symmetric',
): Value {
  if (before === 0 && after === 0) return x;
  const size = x.shape[axis];
  const offset = mode === 'reflect' ? 0 : 1;
  const places = Int32Array.from({ length: before + size + after }, (_, i) => {
    const place = i - before;
    if (place < 0) return -place - offset;
    return place < size ? place : 2 * (size - 1) - place + offset;
  });
  const shape = x.shape.map((d, i) => (i === axis ? places.length : d));
  return graph.op('Gather', [x, constant(places, [places.length], 'int32')], { shape, dtype: x.dtype }, { axis });
}

interface StridedSliceAttrs {
  readonly begin: number[];
  readonly end: number[];
  readonly strides: number[];
  readonly beginMask: number;
  readonly endMask: number;
  readonly ellipsisMask: number;
  readonly newAxisMask: number;
  readonly shrinkAxisMask: number;
}

function stridedSlice(graph: GraphBuilder, x: Value, attrs: StridedSliceAttrs): Value {
  const { begin, end, strides, beginMask, endMask, ellipsisMask, newAxisMask, shrinkAxisMask } = attrs;
  const masks = [beginMask, endMask, ellipsisMask, newAxisMask, shrinkAxisMask] as const;
  const info = slice_util.sliceInfo([...x.shape], begin, end, strides, ...masks);
  const axes = [...x.shape.keys()];
  // Going down to the first entry ends at -1, which ONNX would read as the last one.
  const ends = info.end.map((to) => (to < 0 ? -(2 ** 31) : to));
  const cut = graph.op('Slice', [x, indices(info.begin), indices(ends), indices(axes), indices(info.strides)], {
    shape: slice_util.computeOutShape(info.begin, info.end, info.strides),
    dtype: x.dtype,
  });
  return reshape(graph, cut, info.finalShape);
}

interface FoldAttrs {
  readonly blockShape: number[];
  readonly paddings: Paddings;
  readonly crops: number[][];
}

function registerFolds(): void {
  kernel<FoldAttrs>('SpaceToBatchND', ({ inputs: { x }, attrs: { blockShape, paddings }, graph }) => {
    const size = blockShape.reduce((product, block) => product * block, 1);
    const none: [number, number] = [0, 0];
    const rest = x!.shape.slice(1 + blockShape.length).map(() => none);
    const padded = pad(graph, x!, [none, ...paddings, ...rest]);
    const split = backend_util.getReshaped([...padded.shape], blockShape, size, false);
    const perm = backend_util.getPermuted(split.length, blockShape.length, false);
    const shape = backend_util.getReshapedPermuted([...padded.shape], blockShape, size, false);
    return reshape(graph, transpose(graph, reshape(graph, padded, split), perm), shape);
  });
  kernel<FoldAttrs>('BatchToSpaceND', ({ inputs: { x }, attrs: { blockShape, crops }, graph }) => {
    const size = blockShape.reduce((product, block) => product * block, 1);
    const split = backend_util.getReshaped([...x!.shape], blockShape, size);
    const perm = backend_util.getPermuted(split.length, blockShape.length);
    const shape = backend_util.getReshapedPermuted([...x!.shape], blockShape, size);
    const whole = reshape(graph, transpose(graph, reshape(graph, x!, split), perm), shape);
    const rest = shape.slice(1 + blockShape.length);
    const begin = [0, ...crops.map(([before]) => before), ...rest.map(() => 0)];
    const sizes = crops.map(([before, after], i) => shape[i + 1] - before - after);
    return slice(graph, whole, begin, [shape[0], ...sizes, ...rest]);
  });
  kernel<{ blockSize: number; dataFormat: 'NHWC' | 'NCHW' }>(
    'DepthToSpace',
    ({ inputs: { x }, attrs, graph, where }) => {
      if (attrs.dataFormat !== 'NHWC')
        throw new Error(`${where}: depthToSpace in ${attrs.dataFormat} can't be compiled`);
      const { blockSize: block } = attrs;
      const [rows, height, width, channels] = x!.shape;
      const depth = channels / block ** 2;
      const split = reshape(graph, x!, [rows, height, width, block, block, depth]);
      return reshape(graph, transpose(graph, split, [0, 1, 3, 2, 4, 5]), [rows, height * block, width * block, depth]);
    },
  );
}
