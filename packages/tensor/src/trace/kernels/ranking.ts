import { util } from '@tensorflow/tfjs-core';
import { indices, type Value } from '../../graph';
import { kernel } from '../kernel';
import { cast } from './arithmetic';

/** Kernels that find the largest. Of equals the first counts, as in tfjs. */
export function registerRanking(): void {
  for (const op of ['ArgMax', 'ArgMin']) {
    kernel<{ axis: number }>(op, ({ inputs: { x }, attrs, graph }) => {
      const axis = util.parseAxisParam(attrs.axis, [...x!.shape])[0];
      const numbers = x!.dtype === 'bool' ? cast(graph, x!, 'int32') : x!;
      const shape = numbers.shape.filter((_, i) => i !== axis);
      return cast(graph, graph.op(op, [numbers], { shape, dtype: 'int64' }, { axis, keepdims: 0 }), 'int32');
    });
  }
  kernel<{ k: number; sorted: boolean }>('TopK', ({ inputs: { x }, attrs, graph }) => {
    const numbers = x!.dtype === 'bool' ? cast(graph, x!, 'int32') : x!;
    const shape = [...numbers.shape.slice(0, -1), attrs.k];
    const spec: Value[] = [
      { shape, dtype: numbers.dtype },
      { shape, dtype: 'int64' },
    ];
    const [values, places] = graph.ops('TopK', [numbers, indices([attrs.k])], spec, { axis: -1 });
    return [cast(graph, values, x!.dtype), cast(graph, places, 'int32')];
  });
}
