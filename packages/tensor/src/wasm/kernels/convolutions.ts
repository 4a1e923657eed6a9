import type { Node, Value } from '../../graph';
import { integerOf } from '../../passes/patterns';
import type { Code } from '../assembler';
import type { Lowering } from '../lowering';
import { Unsupported } from '../steps';
import { cut, type Dim, inOrder, type View } from '../views';
import { bitsOf, copyStep, fillStep } from './copies';

import { addProduct } from './products';

/** The windows of a convolution or of pooling, by axis of positions. */
interface Windows {
  readonly kernel: readonly number[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly before: readonly number[];
  readonly after: readonly number[];
}

function windowsOf(node: Node, kernel: readonly number[]): Windows {
  const list = (name: string, otherwise: number, length = kernel.length): readonly number[] =>
    (node.attributes[name] as readonly number[] | undefined) ?? Array(length).fill(otherwise);
  if ((node.attributes['auto_pad'] ?? 'NOTSET') !== 'NOTSET') throw new Unsupported(`${node.op} with auto_pad`);
  const pads = list('pads', 0, 2 * kernel.length);
  return {
    kernel,
    strides: list('strides', 1),
    dilations: list('dilations', 1),
    before: pads.slice(0, kernel.length),
    after: pads.slice(kernel.length),
  };
}

function product(sizes: readonly number[]): number {
  return sizes.reduce((all, size) => all * size, 1);
}

/** x [N, C, ...] with a border of one number around its positions. */
function padded(
  x: View,
  before: readonly number[],
  after: readonly number[],
  filler: number,
  lowering: Lowering,
): View {
  if ([...before, ...after].every((size) => size === 0)) return x;
  if ([...before, ...after].some((size) => size < 0)) throw new Unsupported('negative padding');
  const shape = x.dims.map(({ size }, i) => (i < 2 ? size : before[i - 2] + size + after[i - 2]));
  const out = lowering.scratch(shape);
  lowering.add(fillStep(out, bitsOf(filler, 'float32')));
  let inside = out;
  for (const [i, start] of before.entries()) inside = cut(inside, 2 + i, start, x.dims[2 + i].size);
  lowering.add(copyStep(x, inside));
  return out;
}

/** The numbers under each tap, [N, C, taps..., positions...]: a view of x [N, C, ...]. */
function patches(x: View, { kernel, strides, dilations }: Windows, positions: readonly number[]): View {
  const taps = kernel.map((size, i): Dim => ({ size, stride: x.dims[2 + i].stride * dilations[i] }));
  const places = positions.map((size, i): Dim => ({ size, stride: x.dims[2 + i].stride * strides[i] }));
  return { ...x, dims: [...x.dims.slice(0, 2), ...taps, ...places] };
}

/** ONNX's Conv: x [N, C, ...], filter [O, C / groups, ...], bias [O]. */
export function addConv(node: Node, lowering: Lowering): void {
  const [x, filter, bias] = node.inputs as [Value, Value, Value | undefined];
  const windows = windowsOf(node, filter.shape.slice(2));
  const source = padded(lowering.view(x), windows.before, windows.after, 0, lowering);
  convolve(source, lowering.view(filter), windows, integerOf(node, 'group', 1), node.outputs[0], lowering);
  if (bias) throw new Unsupported('Conv with a bias');
}

/**
 * filter [O, C taps] times patches [C taps, positions], image by image and group by group.
 *
 * @param source x with its border
 */
function convolve(source: View, filter: View, windows: Windows, groups: number, y: Value, lowering: Lowering): void {
  const [images, channels, ...positions] = y.shape;
  const inChannels = source.dims[1].size / groups;
  const inner = inChannels * product(windows.kernel);
  const all = patches(source, windows, positions);
  const columns = lowering.scratch([images, groups, inner, product(positions)]);
  const asTaps = { ...columns, dims: inOrder(all.dims.map(({ size }) => size)) };
  lowering.add(copyStep(all, asTaps));
  const packed = lowering.pack(filter, { shape: filter.dims.map(({ size }) => size), dtype: 'float32' });
  const [, ...matrix] = inOrder([groups, channels / groups, inner]);
  const perGroup = { size: groups, stride: (channels / groups) * inner };
  const out = lowering.room(y);
  addProduct(
    {
      a: { ...packed, dims: [{ size: images, stride: 0 }, perGroup, ...matrix] },
      b: columns,
      out: { ...out, dims: inOrder([images, groups, channels / groups, product(positions)]) },
    },
    lowering,
  );
}

/**
 * ONNX's ConvTranspose: x [N, C, ...], filter [C, O / groups, ...]. A convolution by the filter turned round, over x
 * with zeros between its positions.
 */
export function addConvTranspose(node: Node, lowering: Lowering): void {
  const [x, filter, bias] = node.inputs as [Value, Value, Value | undefined];
  if (bias) throw new Unsupported('ConvTranspose with a bias');
  const [y] = node.outputs;
  const kernel = filter.shape.slice(2);
  const windows = windowsOf(node, kernel);
  const { strides, dilations, before } = windows;
  const groups = integerOf(node, 'group', 1);
  const [images, channels, ...sizes] = x.shape;
  const reach = kernel.map((size, i) => (size - 1) * dilations[i]);
  // As wide as the positions of the result need: the first of them reads from `reach - before` on.
  const shape = [images, channels, ...y.shape.slice(2).map((size, i) => size + reach[i])];
  const spread = lowering.scratch(shape);
  lowering.add(fillStep(spread, 0));
  let target = spread;
  let source = lowering.view(x);
  sizes.forEach((size, i) => {
    const start = reach[i] - before[i];
    const first = Math.max(0, Math.ceil(-start / strides[i]));
    const last = Math.min(size - 1, Math.floor((shape[2 + i] - 1 - start) / strides[i]));
    const count = Math.max(0, last - first + 1);
    if (count === 0) throw new Unsupported('ConvTranspose that reads nothing');
    source = cut(source, 2 + i, first, count);
    target = cut(target, 2 + i, start + first * strides[i], count);
    const dims = target.dims.map((dim, axis) => (axis === 2 + i ? { ...dim, stride: dim.stride * strides[i] } : dim));
    target = { ...target, dims };
  });
  lowering.add(copyStep(source, target));
  const turned = turnedRound(lowering.view(filter), groups);
  const plain = { ...windows, strides: strides.map(() => 1) };
  convolve(spread, turned, plain, groups, y, lowering);
}

/** [C, O / groups, ...] as [groups, O / groups, C / groups, ...], taps in reverse order. */
function turnedRound(filter: View, groups: number): View {
  const [inputs, outputs, ...taps] = filter.dims;
  const offset = taps.reduce((sum, { size, stride }) => sum + (size - 1) * stride, filter.offset);
  const turned = taps.map(({ size, stride }) => ({ size, stride: -stride }));
  const perGroup = inputs.size / groups;
  const group = { size: groups, stride: perGroup * inputs.stride };
  return { ...filter, offset, dims: [group, outputs, { size: perGroup, stride: inputs.stride }, ...turned] };
}

/** The largest number (and its place), or the mean, under each window of x [N, C, ...]. */
export function addPool(node: Node, lowering: Lowering): void {
  const x = node.inputs[0]!;
  const [y, places] = node.outputs;
  const windows = windowsOf(node, node.attributes['kernel_shape'] as readonly number[]);
  if (x.dtype !== 'float32') throw new Unsupported(`${node.op} of ${x.dtype}`);
  const isMean = node.op === 'AveragePool';
  if (isMean && integerOf(node, 'count_include_pad', 0) !== 0) throw new Unsupported('AveragePool that counts padding');
  const { before, after } = windows;
  const positions = y.shape.slice(2);
  // The places of numbers in x, in the same border, say which number is there; -1 is none.
  const numbers = padded(lowering.packed(x), before, after, isMean ? 0 : -Infinity, lowering);
  const all = patches(numbers, windows, positions);
  const taps = product(windows.kernel);
  const shape = [y.shape[0], y.shape[1], taps, product(positions)];
  const columns = pack(all, shape, lowering);
  const marks = padded(lowering.view(placesIn(x.shape)), before, after, -1, lowering);
  const marked = pack(patches(marks, windows, positions), shape, lowering);
  const made = places && lowering.room(places);
  const [images, , , count] = shape;
  lowering.add({
    key: `${node.op} ${shape} ${made !== undefined}`,
    reads: [columns, marked],
    writes: [lowering.room(y), ...(made ? [made] : [])],
    emit(code, [from, where, to, toPlaces]) {
      code.repeat(images * shape[1], 1, () => {
        code.repeat(4 * count, 4, (i) => {
          if (isMean) meanOf(code, taps, count, from, where, i);
          else largestOf(code, taps, count, from, where, i, made && toPlaces);
          const result = code.keep('f32');
          code.get(to);
          code.get(result);
          code.memory('f32.store');
          code.advance(to, 4);
        });
        for (const pointer of [from, where]) code.advance(pointer, 4 * taps * count);
      });
    },
  });
}

type Index = Parameters<Code['get']>[0];

function pushAddress(code: Code, pointer: Index, index: Index): void {
  code.get(pointer);
  code.get(index);
  code.op('i32.add');
}

function meanOf(code: Code, taps: number, count: number, from: Index, where: Index, i: Index): void {
  code.f32(0);
  const sum = code.keep('f32');
  code.f32(0);
  const found = code.keep('f32');
  for (let tap = 0; tap < taps; tap++) {
    pushAddress(code, from, i);
    code.memory('f32.load', 4 * tap * count);
    code.get(sum);
    code.op('f32.add');
    code.set(sum);
    pushAddress(code, where, i);
    code.memory('f32.load', 4 * tap * count);
    code.f32(0);
    code.op('f32.ge');
    code.op('f32.convert_i32_s');
    code.get(found);
    code.op('f32.add');
    code.set(found);
  }
  code.get(sum);
  code.get(found);
  code.op('f32.div');
}

function largestOf(
  code: Code,
  taps: number,
  count: number,
  from: Index,
  where: Index,
  i: Index,
  toPlaces: Index | undefined,
): void {
  code.f32(-Infinity);
  const best = code.keep('f32');
  code.f32(-1);
  const place = code.keep('f32');
  for (let tap = 0; tap < taps; tap++) {
    pushAddress(code, from, i);
    code.memory('f32.load', 4 * tap * count);
    const entry = code.keep('f32');
    pushAddress(code, where, i);
    code.memory('f32.load', 4 * tap * count);
    const mark = code.keep('f32');
    // Larger; or the first that isn't of the border. NaN isn't larger.
    code.get(entry);
    code.get(best);
    code.op('f32.gt');
    code.get(place);
    code.f32(0);
    code.op('f32.lt');
    code.get(mark);
    code.f32(0);
    code.op('f32.ge');
    code.op('i32.and');
    code.op('i32.or');
    code.when(() => {
      code.get(entry);
      code.set(best);
      code.get(mark);
      code.set(place);
    });
  }
  if (toPlaces) {
    code.get(toPlaces);
    code.get(place);
    code.op('i32.trunc_sat_f32_s');
    code.memory('i32.store');
    code.advance(toPlaces as never, 4);
  }
  code.get(best);
}

function pack(view: View, shape: readonly number[], lowering: Lowering): View {
  const copy = lowering.pack(view, { shape: view.dims.map(({ size }) => size), dtype: 'float32' });
  return { ...copy, dims: inOrder(shape) };
}

/** 0, 1, 2, ... in the shape of a value; float32 tells such numbers apart up to 2^24. */
function placesIn(shape: readonly number[]): Value {
  const size = product(shape);
  if (size > 2 ** 24) throw new Unsupported('pooling of more than 2^24 numbers');
  return { shape, dtype: 'float32', constant: Float32Array.from({ length: size }, (_, i) => i) };
}
