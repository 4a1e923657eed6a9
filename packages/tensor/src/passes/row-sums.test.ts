import { describe, expect, it } from 'vitest';
import { type Graph, GraphBuilder, indices } from '../graph';
import { rowSums } from './row-sums';

function sumOf(shape: readonly number[], axes: readonly number[], keepdims = 0): Graph {
  const builder = new GraphBuilder();
  const x = { shape, dtype: 'float32' as const };
  const kept = shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
  const output = keepdims ? kept : shape.filter((_, axis) => !axes.includes(axis));
  const value = builder.op('ReduceSum', [x, indices(axes)], { shape: output, dtype: 'float32' }, { keepdims });
  return { inputs: [{ name: 'in/x', value: x }], nodes: builder.nodes, outputs: [{ name: 'out/y', value }] };
}

const opsOf = (graph: Graph) => graph.nodes.map(({ op }) => op);

describe('rowSums', () => {
  it.each([
    [[16, 32], [0], 0],
    [[16, 32], [0], 1],
    [[4, 3, 5, 8], [0, 1, 2], 0],
  ])('makes a product of the sum of %j over %j', (shape, axes, keepdims) => {
    const graph = sumOf(shape, axes, keepdims);
    const after = rowSums(graph);
    expect(opsOf(after)).toContain('MatMul');
    expect(opsOf(after)).not.toContain('ReduceSum');
    expect(after.outputs[0]!.value.shape).toEqual(graph.outputs[0]!.value.shape);
  });

  it.each([
    [[16, 32], [1]],
    [
      [16, 32],
      [0, 1],
    ],
    [[4, 32], [0]],
    [[16, 4], [0]],
    [[4, 8, 16], [0]],
  ])('leaves the sum of %j over %j alone', (shape, axes) => {
    expect(opsOf(rowSums(sumOf(shape, axes)))).toEqual(['ReduceSum']);
  });
});
