import { describe, expect, it } from 'vitest';
import { countOps, f32, graphOf, keepsValues } from '../../test/run-graph';
import { indices, type Value } from '../graph';
import { sumsOfPads } from './recurrence';
import { sumsOfSquares } from './sums-of-squares';

describe('sumsOfPads', () => {
  it('pads terms with equal padding once, and leaves the rest of the sum', async () => {
    const graph = graphOf({ a: [1, 2], b: [1, 2], c: [2, 2], d: [3, 2] }, (builder, { a, b, c, d }) => {
      const above = (x?: Value) => builder.op('Pad', [x, indices([0, 0, 2, 0])], f32(3, 2), { mode: 'constant' });
      const below = builder.op('Pad', [c, indices([1, 0, 0, 0])], f32(3, 2), { mode: 'constant' });
      const terms = [above(a), below, d!, above(b), d!];
      return { sum: terms.reduce((sum, term) => builder.op('Add', [sum, term], f32(3, 2))) };
    });
    expect(countOps(graph)).toEqual({ Pad: 3, Add: 4 });
    const after = await keepsValues(graph, sumsOfPads);
    expect(countOps(after)).toEqual({ Pad: 2, Add: 4 });
  });
});

describe('sumsOfSquares', () => {
  it('makes one node of a sum of squares, unless the squares are read elsewhere', async () => {
    const graph = graphOf({ x: [5], y: [5] }, (b, { x, y }) => {
      const square = b.op('Mul', [y, y], f32(5));
      const sum = (value: Value) => b.op('ReduceSum', [value, indices([0])], f32(1), { keepdims: 1 });
      return {
        one: sum(b.op('Mul', [x, x], f32(5))),
        two: sum(square),
        square,
        mixed: sum(b.op('Mul', [x, y], f32(5))),
      };
    });
    expect(countOps(await keepsValues(graph, sumsOfSquares))).toEqual({ ReduceSumSquare: 1, Mul: 2, ReduceSum: 2 });
  });
});
