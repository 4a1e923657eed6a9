import { describe, expect, it } from 'vitest';
import { countOps, f32, graphOf, keepsValues } from '../../test/run-graph';
import { type GraphBuilder, indices, scalar, type Value } from '../graph';
import { rmsNorms, spellOutNorms } from './rms-norms';

/** 1 / sqrt(mean(x^2) + 0.1) over an axis. */
function inverseRoot(b: GraphBuilder, x: Value, axis: number): Value {
  const column = f32(...x.shape.map((size, i) => (i === axis ? 1 : size)));
  const mean = b.op('ReduceMean', [b.op('Mul', [x, x], x), indices([axis])], column, { keepdims: 1 });
  const root = b.op('Sqrt', [b.op('Add', [mean, scalar(0.1)], column)], column);
  return b.op('Reciprocal', [root], column);
}

function norm(b: GraphBuilder, x: Value, scale: Value, axis = 1) {
  const inverse = inverseRoot(b, x, axis);
  return { y: b.op('Mul', [b.op('Mul', [x, inverse], x), scale], x), inverse };
}

const gradientLike = graphOf({ x: [3, 4], scale: [4] }, (b, { x, scale }) => {
  const { y, inverse } = norm(b, x!, scale!);
  return { y, back: b.op('Mul', [y, inverse], f32(3, 4)) };
});

describe('rmsNorms', () => {
  it('makes one node of a norm whose inverse is read elsewhere too', async () => {
    expect(countOps(await keepsValues(gradientLike, rmsNorms))).toEqual({ SimplifiedLayerNormalization: 1, Mul: 1 });
  });

  it('does so twice in a row', async () => {
    const graph = graphOf({ x: [2, 3, 4], scale: [4] }, (b, { x, scale }) => {
      return { y: norm(b, norm(b, x!, scale!, 2).y, scale!, 2).y };
    });
    expect(countOps(await keepsValues(graph, rmsNorms))).toEqual({ SimplifiedLayerNormalization: 2 });
  });

  it('leaves other axes alone, and scales that are made after the norm or have rows', async () => {
    const graph = graphOf({ x: [4, 4], rows: [4, 4], scale: [4] }, (b, { x, rows, scale }) => {
      const late = inverseRoot(b, x!, 1);
      const made = b.op('Reshape', [late, indices([4])], f32(4));
      const scaled = b.op('Mul', [b.op('Mul', [x, late], f32(4, 4)), made], f32(4, 4));
      return { scaled, first: norm(b, rows!, scale!, 0).y, wide: norm(b, rows!, rows!).y };
    });
    expect(countOps(await keepsValues(graph, rmsNorms))['SimplifiedLayerNormalization']).toBeUndefined();
  });

  it('is spelt out again', async () => {
    const after = await keepsValues(gradientLike, rmsNorms, spellOutNorms);
    expect(countOps(after)).toEqual({ Mul: 4, ReduceMean: 1, Add: 1, Sqrt: 1, Reciprocal: 1 });
  });
});
