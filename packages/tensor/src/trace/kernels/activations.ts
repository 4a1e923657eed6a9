import { type GraphBuilder, sameShape, scalar, type Value } from '../../graph';
import { kernel } from '../kernel';
import { cast, compare, elementwise, where } from './arithmetic';
import { clip, inFloat } from './unary';

/** Activation functions and what their gradients need. */
export function registerActivations(): void {
  kernel('Relu', ({ inputs: { x }, graph }) => relu(graph, x!));
  kernel('Relu6', ({ inputs: { x }, graph }) => clip(graph, x!, 0, 6));
  kernel('Elu', ({ inputs: { x }, graph }) => inFloat(graph, x!, (y) => graph.op('Elu', [y], y)));
  kernel('Selu', ({ inputs: { x }, graph }) => inFloat(graph, x!, (y) => graph.op('Selu', [y], y)));
  // y is elu(x): the slope is 1 above 0, and exp(x) = y + 1 below.
  kernel('EluGrad', ({ inputs: { dy, y }, graph }) => {
    const below = elementwise(graph, 'Min', y!, scalar(0));
    return elementwise(graph, 'Mul', dy!, elementwise(graph, 'Add', below, scalar(1)));
  });
  kernel<{ alpha: number }>('LeakyRelu', ({ inputs: { x }, attrs, graph }) =>
    leakyRelu(graph, cast(graph, x!, 'float32'), attrs.alpha),
  );
  kernel('Prelu', ({ inputs: { x, alpha }, graph }) =>
    prelu(graph, cast(graph, x!, 'float32'), cast(graph, alpha!, 'float32')),
  );
}

function relu(graph: GraphBuilder, x: Value): Value {
  return x.dtype === 'bool' ? x : graph.op('Relu', [x], x);
}

function leakyRelu(graph: GraphBuilder, x: Value, alpha: number): Value {
  return graph.op('LeakyRelu', [x], x, { alpha: { float: alpha } });
}

/** x where it's positive, slopes x elsewhere. ONNX's PRelu broadcasts the slopes to x, but not x to the slopes. */
function prelu(graph: GraphBuilder, x: Value, slopes: Value): Value {
  const scaled = elementwise(graph, 'Mul', x, slopes);
  if (sameShape(scaled.shape, x.shape)) return graph.op('PRelu', [x, slopes], x);
  return where(graph, compare(graph, 'Less', x, 0), scaled, x);
}

/**
 * The activation that tfjs's fused kernels end with.
 *
 * @param slopes of prelu
 */
export function activate(
  graph: GraphBuilder,
  x: Value,
  activation: string | undefined,
  leakyreluAlpha = 0.2,
  slopes?: Value,
): Value {
  switch (activation) {
    case undefined:
    case null:
    case 'linear':
      return x;
    case 'relu':
      return relu(graph, x);
    case 'relu6':
      return clip(graph, x, 0, 6);
    case 'elu':
      return graph.op('Elu', [x], x);
    case 'sigmoid':
      return graph.op('Sigmoid', [x], x);
    case 'prelu':
      return prelu(graph, x, slopes!);
    case 'leakyrelu':
      return leakyRelu(graph, x, leakyreluAlpha);
    default:
      throw new Error(`the fused activation ${activation} can't be compiled`);
  }
}
