import { sizeOf } from '@coplay/core/arrays';
import { describe, expect, it } from 'vitest';
import { constant, type GraphBuilder, indices, scalar, type Value } from '../src/graph';
import { sinkReshapes } from '../src/passes/conv-reshapes';
import { convolve, filterGradient, inputGradient } from '../src/trace/kernels/conv-dense';
import { type ConvAttrs, type ConvGeometry, geometry2D, outShapeOf } from '../src/trace/kernels/conv-geometry';
import { canBeNative } from '../src/trace/kernels/conv-native';
import { countOps, f32, graphOf, keepsValues, runGraph, someFeeds } from './run-graph';

/** [input, filter, attributes] */
const GEOMETRIES: readonly (readonly [readonly number[], readonly number[], ConvAttrs])[] = [
  [[3, 5, 7, 3], [3, 3, 3, 4], { strides: 1, pad: 'same' }],
  [[3, 5, 7, 3], [3, 2, 3, 4], { strides: 1, pad: 'valid' }],
  [[3, 6, 7, 2], [3, 3, 2, 4], { strides: 2, pad: 'same' }],
  [[3, 7, 8, 2], [3, 2, 2, 4], { strides: 2, pad: 'valid' }],
  [[2, 9, 8, 2], [2, 2, 2, 2], { strides: 3, pad: 'valid' }],
  [[2, 3, 2, 2], [5, 5, 2, 2], { strides: 1, pad: 'same' }],
  [[2, 3, 4, 2], [2, 2, 2, 2], { strides: 1, pad: 3 }],
  [[2, 9, 8, 2], [3, 2, 2, 3], { strides: 1, pad: 'same', dilations: [2, 3] }],
  [[2, 6, 6, 2], [3, 3, 2, 2], { strides: 2, pad: 1, dimRoundingMode: 'floor' }],
];

/** The three forms by patches (no limit) and the ones for large convolutions (limit 0). */
const FORMS: Record<
  string,
  (graph: GraphBuilder, inputs: Record<string, Value>, geometry: ConvGeometry, limit: number) => Value
> = {
  value: (graph, { x, filter }, geometry, limit) => convolve(graph, x!, filter!, geometry, limit),
  input: (graph, { dy, filter }, geometry, limit) => inputGradient(graph, dy!, filter!, geometry, limit),
  filter: (graph, { x, dy }, geometry, limit) => filterGradient(graph, x!, dy!, geometry, limit),
};

describe('large convolutions take other forms than small ones, with the same values', () => {
  const cases = GEOMETRIES.flatMap((row) => Object.keys(FORMS).map((form) => [form, ...row] as const));

  it.each(cases)('%s of [%s] * [%s], %o', async (form, xShape, filterShape, attrs) => {
    const geometry = geometry2D('test', xShape, filterShape, attrs, false);
    expect(canBeNative(geometry)).toBe(true);
    const shapes = { x: xShape, filter: filterShape, dy: outShapeOf(geometry) };
    const graph = graphOf(shapes, (builder, inputs) => ({
      small: FORMS[form]!(builder, inputs, { ...geometry }, Number.POSITIVE_INFINITY),
      large: FORMS[form]!(builder, inputs, { ...geometry }, 0),
    }));
    const ops = countOps(graph);
    const isNative = form !== 'filter';
    expect((ops['Conv'] ?? 0) + (ops['ConvTranspose'] ?? 0) > 0).toBe(isNative);
    if (!isNative) expect(ops['Gemm']).toBe(1 + xShape[0]!);
    const { 'out/small': small, 'out/large': large } = await runGraph(graph, someFeeds(graph));
    expect(small!.data).toHaveLength(sizeOf(small!.shape));
    small!.data.forEach((value, i) => {
      expect(large!.data[i]).toBeCloseTo(value, 4);
    });
  });

  it.each(GEOMETRIES)(
    'small ones, too, with a filter that is known: [%s] * [%s], %o',
    async (xShape, filterShape, attrs) => {
      const geometry = geometry2D('test', xShape, filterShape, attrs, false);
      const entries = Float32Array.from({ length: sizeOf(filterShape) }, (_, i) => Math.sin(1.7 * i));
      const graph = graphOf({ x: xShape, filter: filterShape }, (builder, { x, filter }) => ({
        given: convolve(builder, x!, filter!, geometry),
        known: convolve(builder, x!, constant(entries, filterShape, 'float32'), geometry),
      }));
      expect(countOps(graph)).toMatchObject({ Conv: 1, MatMul: 1 });
      const { 'out/given': given, 'out/known': known } = await runGraph(graph, {
        ...someFeeds(graph),
        'in/filter': entries,
      });
      given!.data.forEach((value, i) => {
        expect(known!.data[i]).toBeCloseTo(value, 4);
      });
    },
  );

  it('leaves sizes that ONNX would work out otherwise to patches', async () => {
    // tfjs takes the filter's height for its width here: 6 columns where ONNX would make 7
    const geometry = geometry2D('test', [1, 4, 6, 2], [3, 1, 2, 2], { strides: 1, pad: 1 }, false);
    expect(geometry.outSizes).toEqual([4, 6]);
    expect(canBeNative(geometry)).toBe(false);
    const graph = graphOf({ x: [1, 4, 6, 2], filter: [3, 1, 2, 2] }, (builder, { x, filter }) => ({
      y: convolve(builder, x!, filter!, geometry, 0),
    }));
    expect(countOps(graph)['Conv']).toBeUndefined();
    expect((await runGraph(graph, someFeeds(graph)))['out/y']!.data.every(Number.isFinite)).toBe(true);
  });
});

/** sum(a b) */
const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

describe('gradients are the adjoints of the convolution, dilated ones too', () => {
  // y is linear in x and in the filter, so sum(dy y) = sum(x dx) = sum(filter dFilter) for any dy.
  const cases = GEOMETRIES.flatMap((row) => [0, Number.POSITIVE_INFINITY].map((limit) => [limit, ...row] as const));

  it.each(cases)('limit %d: [%s] * [%s], %o', async (limit, xShape, filterShape, attrs) => {
    const geometry = geometry2D('test', xShape, filterShape, attrs, false);
    const shapes = { x: xShape, filter: filterShape, dy: outShapeOf(geometry) };
    const graph = graphOf(shapes, (builder, inputs) =>
      Object.fromEntries(Object.entries(FORMS).map(([name, form]) => [name, form(builder, inputs, geometry, limit)])),
    );
    const feeds = Object.fromEntries(
      graph.inputs.map(({ name, value }, seed) => [
        name,
        Float32Array.from({ length: sizeOf(value.shape) }, (_, i) => 1 + Math.sin(i * i + seed)),
      ]),
    );
    const made = await runGraph(graph, feeds);
    const array = (name: string) => [...feeds[`in/${name}`]!];
    const expected = dot(array('dy'), made['out/value']!.data);
    expect(expected).toBeGreaterThan(1);
    expect(dot(array('x'), made['out/input']!.data) / expected).toBeCloseTo(1, 5);
    expect(dot(array('filter'), made['out/filter']!.data) / expected).toBeCloseTo(1, 5);
  });
});

describe('sinkReshapes', () => {
  const matrix = (builder: GraphBuilder, x: Value) =>
    builder.op('Reshape', [x, indices([2, 3, 2, 4])], f32(2, 3, 2, 4));

  it('puts bias, activation and sum on the matrix', async () => {
    const graph = graphOf({ x: [12, 4], bias: [4], wide: [1, 1, 1, 4] }, (builder, { x, bias, wide }) => {
      const image = f32(2, 3, 2, 4);
      const biased = builder.op('Add', [matrix(builder, x!), bias], image);
      const scaled = builder.op('Mul', [wide, builder.op('Mul', [biased, scalar(0.5)], image)], image);
      const y = builder.op('Relu', [scaled], image);
      return { y, sum: builder.op('ReduceSum', [y, indices([0, 1, 2])], f32(4), { keepdims: 0 }) };
    });
    const after = await keepsValues(graph, sinkReshapes);
    const shapes = after.nodes.filter(({ op }) => op !== 'Reshape').map(({ op, outputs }) => [op, outputs[0]!.shape]);
    expect(shapes).toEqual([
      ['Add', [12, 4]],
      ['Mul', [12, 4]],
      ['Mul', [12, 4]],
      ['Relu', [12, 4]],
      ['ReduceSum', [4]],
    ]);
  });

  it('takes whole images along, as matrices', async () => {
    const graph = graphOf({ x: [12, 4], other: [2, 3, 2, 4] }, (builder, { x, other }) => ({
      y: builder.op('Sub', [other, matrix(builder, x!)], f32(2, 3, 2, 4)),
    }));
    const after = await keepsValues(graph, sinkReshapes);
    expect(after.nodes.find(({ op }) => op === 'Sub')!.outputs[0]!.shape).toEqual([12, 4]);
  });

  it('leaves alone what is broadcast along positions, sums over channels, and views with other channels', async () => {
    const graph = graphOf({ x: [12, 4], row: [2, 1], y: [4, 12] }, (builder, { x, row, y }) => ({
      a: builder.op('Add', [matrix(builder, x!), row], f32(2, 3, 2, 4)),
      b: builder.op('ReduceSum', [matrix(builder, x!), indices([0, 1, 3])], f32(2), { keepdims: 0 }),
      c: builder.op('Tanh', [matrix(builder, y!)], f32(2, 3, 2, 4)),
      d: builder.op('Add', [matrix(builder, x!), constant(Float32Array.of(1, 2), [2, 1], 'float32')], f32(2, 3, 2, 4)),
    }));
    expect(countOps(await keepsValues(graph, sinkReshapes))).toEqual(countOps(graph));
  });
});
