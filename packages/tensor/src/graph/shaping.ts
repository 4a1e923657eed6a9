import { type GraphBuilder, indices, sameShape } from './builder';
import type { Value } from './graph';

/** A value in another shape of the same size; itself if it has that, and a constant without a node. */
export function reshape(builder: GraphBuilder, x: Value, shape: readonly number[]): Value {
  if (sameShape(x.shape, shape)) return x;
  if (x.constant) return { ...x, shape };
  return builder.op('Reshape', [x, indices(shape)], { shape, dtype: x.dtype }, { allowzero: 1 });
}
