import { constant, type GraphBuilder, reshape, type Value } from '../../graph';
import { kernel } from '../kernel';
import { cast } from './arithmetic';
import { matMul } from './mat-mul';

interface ResizeAttrs {
  readonly size: readonly [number, number];
  readonly alignCorners: boolean;
  readonly halfPixelCenters: boolean;
}

/** The weights of the old places in a new one. */
type Weights = (place: number, last: number) => readonly (readonly [index: number, weight: number])[];

/**
 * Resizing of images [B, H, W, C]. It is linear and its directions are independent: one product with a constant matrix
 * for the rows and one for the columns, and the gradient is the same with both transposed.
 */
export function registerResize(): void {
  kernel<ResizeAttrs>('ResizeBilinear', ({ inputs: { images }, attrs, graph }) =>
    resize(graph, cast(graph, images!, 'float32'), attrs.size, attrs, bilinear),
  );
  kernel<ResizeAttrs>('ResizeNearestNeighbor', ({ inputs: { images }, attrs, graph }) => {
    const resized = resize(graph, cast(graph, images!, 'float32'), attrs.size, attrs, nearest(attrs));
    return cast(graph, resized, images!.dtype);
  });
  kernel<ResizeAttrs>('ResizeBilinearGrad', ({ inputs: { images, dy }, attrs, graph }) =>
    resizeBack(graph, dy!, images!.shape, attrs, bilinear),
  );
  kernel<ResizeAttrs>('ResizeNearestNeighborGrad', ({ inputs: { images, dy }, attrs, graph }) =>
    resizeBack(graph, dy!, images!.shape, attrs, nearest(attrs)),
  );
}

const bilinear: Weights = (place, last) => {
  const low = Math.max(0, Math.floor(place));
  const high = Math.min(last, Math.ceil(place));
  const fraction = place - low;
  return [
    [low, 1 - fraction],
    [high, fraction],
  ];
};

/** tfjs rounds only where corners are aligned. With half pixels the centre is left for the grid's own rule. */
function nearest({ alignCorners, halfPixelCenters }: ResizeAttrs): Weights {
  return (place, last) => {
    const exact = halfPixelCenters ? place + 0.5 : place;
    const index = Math.min(last, alignCorners ? Math.round(exact) : Math.floor(exact));
    return [[halfPixelCenters ? Math.max(0, index) : index, 1]];
  };
}

/** [after, before] */
function matrix(before: number, after: number, attrs: ResizeAttrs, weights: Weights): Value {
  const isAligned = attrs.alignCorners && after > 1;
  const ratio = (isAligned ? before - 1 : before) / (isAligned ? after - 1 : after);
  const data = new Float32Array(after * before);
  for (let i = 0; i < after; i++) {
    const place = attrs.halfPixelCenters ? ratio * (i + 0.5) - 0.5 : ratio * i;
    for (const [index, weight] of weights(place, before - 1)) data[i * before + index] += weight;
  }
  return constant(data, [after, before], 'float32');
}

function resize(
  graph: GraphBuilder,
  images: Value,
  [height, width]: readonly [number, number],
  attrs: ResizeAttrs,
  weights: Weights,
): Value {
  const rows = matrix(images.shape[1], height, attrs, weights);
  const columns = matrix(images.shape[2], width, attrs, weights);
  return stretch(graph, images, rows, columns, false);
}

function resizeBack(
  graph: GraphBuilder,
  dy: Value,
  shape: readonly number[],
  attrs: ResizeAttrs,
  weights: Weights,
): Value {
  const rows = matrix(shape[1], dy.shape[1], attrs, weights);
  const columns = matrix(shape[2], dy.shape[2], attrs, weights);
  return stretch(graph, dy, rows, columns, true);
}

function stretch(graph: GraphBuilder, x: Value, rows: Value, columns: Value, isTransposed: boolean): Value {
  const [batch, height, width, channels] = x.shape;
  const from = isTransposed ? 1 : 0;
  const tall = matMul(graph, rows, reshape(graph, x, [batch, height, width * channels]), isTransposed, false);
  const lines = reshape(graph, tall, [batch * rows.shape[from], width, channels]);
  const wide = matMul(graph, columns, lines, isTransposed, false);
  return reshape(graph, wide, [batch, rows.shape[from], columns.shape[from], channels]);
}
