import { type GraphBuilder, scalar, type Value } from '../../graph';
import { kernel } from '../kernel';
import { cast } from './arithmetic';
import { filled } from './constants';
import { concat, reverse, slice } from './shapes';

interface ScanAttrs {
  readonly axis: number;
  readonly exclusive: boolean;
  readonly reverse: boolean;
}

/** Running sums and products. */
export function registerScans(): void {
  kernel<ScanAttrs>('Cumsum', ({ inputs: { x }, attrs, graph }) => {
    const numbers = counted(graph, x!);
    const flags = { exclusive: Number(attrs.exclusive ?? false), reverse: Number(attrs.reverse ?? false) };
    const axis = axisOf(numbers, attrs.axis);
    return numbers.shape.includes(0) ? numbers : graph.op('CumSum', [numbers, scalar(axis, 'int32')], numbers, flags);
  });
  kernel<ScanAttrs>('Cumprod', ({ inputs: { x }, attrs, graph }) => {
    const numbers = counted(graph, x!);
    const axis = axisOf(numbers, attrs.axis);
    if (!attrs.reverse) return runningProduct(graph, numbers, axis, attrs.exclusive);
    return reverse(graph, runningProduct(graph, reverse(graph, numbers, [axis]), axis, attrs.exclusive), [axis]);
  });
}

function counted(graph: GraphBuilder, x: Value): Value {
  return x.dtype === 'bool' ? cast(graph, x, 'int32') : x;
}

function axisOf({ shape }: Value, axis: number): number {
  return axis < 0 ? axis + shape.length : axis;
}

/**
 * In log2(n) steps, each of which doubles the number of factors (Hillis and Steele 1986); ONNX has no operator for it.
 */
function runningProduct(graph: GraphBuilder, x: Value, axis: number, isExclusive: boolean): Value {
  const length = x.shape[axis];
  let product = isExclusive ? shifted(graph, x, axis, 1) : x;
  for (let distance = 1; distance < length; distance *= 2) {
    product = graph.op('Mul', [product, shifted(graph, product, axis, distance)], product);
  }
  return product;
}

/** Moved along an axis, with ones where nothing was. */
function shifted(graph: GraphBuilder, x: Value, axis: number, distance: number): Value {
  const sized = (size: number) => x.shape.map((d, i) => (i === axis ? size : d));
  const rest = slice(graph, x, Array(x.shape.length).fill(0), sized(Math.max(0, x.shape[axis] - distance)));
  return concat(graph, [filled(sized(Math.min(distance, x.shape[axis])), 1, x.dtype), rest], axis);
}
