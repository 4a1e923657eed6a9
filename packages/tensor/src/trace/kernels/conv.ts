import { type GraphBuilder, reshape, type Value } from '../../graph';
import { type KernelCall, kernel } from '../kernel';
import { activate } from './activations';
import { elementwise } from './arithmetic';
import { convolve, filterGradient, inputGradient } from './conv-dense';
import { depthwise, depthwiseFilterGradient, depthwiseInputGradient } from './conv-depthwise';
import { type Conv3DAttrs, type ConvAttrs, geometry2D, geometry3D } from './conv-geometry';
import { transpose } from './shapes';

/**
 * Convolutions in one, two and three dimensions, their gradients, transposed convolutions (which tfjs calls the
 * gradient with respect to the input) and the fused forms that layers call.
 */
export function registerConvolutions(): void {
  registerDense();
  registerDepthwise();
  register3D();
  registerFused();
}

function registerDense(): void {
  kernel<ConvAttrs>('Conv2D', conv2D);
  kernel<ConvAttrs>('Conv2DBackpropInput', ({ inputs: { dy, filter }, attrs, graph, where }) => {
    const geometry = geometry2D(where, attrs.inputShape!, filter!.shape, attrs, false);
    return fromLast(graph, attrs, inputGradient(graph, toLast(graph, attrs, dy!), filter!, geometry));
  });
  kernel<ConvAttrs>('Conv2DBackpropFilter', ({ inputs: { x, dy }, attrs, graph, where }) => {
    const geometry = geometry2D(where, x!.shape, attrs.filterShape!, attrs, false);
    return filterGradient(graph, toLast(graph, attrs, x!), toLast(graph, attrs, dy!), geometry);
  });
}

function conv2D({ inputs: { x, filter }, attrs, graph, where }: KernelCall<ConvAttrs>): Value {
  const geometry = geometry2D(where, x!.shape, filter!.shape, attrs, false);
  return fromLast(graph, attrs, convolve(graph, toLast(graph, attrs, x!), filter!, geometry));
}

/** [N, C, H, W] as [N, H, W, C], if that's the layout. */
function toLast(graph: GraphBuilder, { dataFormat }: ConvAttrs, x: Value): Value {
  return dataFormat === 'NCHW' ? transpose(graph, x, [0, 2, 3, 1]) : x;
}

/** The reverse of {@link toLast}. */
function fromLast(graph: GraphBuilder, { dataFormat }: ConvAttrs, x: Value): Value {
  return dataFormat === 'NCHW' ? transpose(graph, x, [0, 3, 1, 2]) : x;
}

function registerDepthwise(): void {
  kernel<ConvAttrs>('DepthwiseConv2dNative', depthwiseConv2D);
  kernel<ConvAttrs>('DepthwiseConv2dNativeBackpropInput', ({ inputs: { dy, filter }, attrs, graph, where }) => {
    const geometry = geometry2D(where, attrs.inputShape!, filter!.shape, attrs, true);
    return depthwiseInputGradient(graph, dy!, filter!, geometry);
  });
  kernel<ConvAttrs>('DepthwiseConv2dNativeBackpropFilter', ({ inputs: { x, dy }, attrs, graph, where }) => {
    const geometry = geometry2D(where, x!.shape, attrs.filterShape!, attrs, true);
    return depthwiseFilterGradient(graph, x!, dy!, geometry);
  });
}

function depthwiseConv2D({ inputs: { x, filter }, attrs, graph, where }: KernelCall<ConvAttrs>): Value {
  return depthwise(graph, x!, filter!, geometry2D(where, x!.shape, filter!.shape, attrs, true));
}

function register3D(): void {
  kernel<Conv3DAttrs>('Conv3D', ({ inputs: { x, filter }, attrs, graph }) =>
    convolve(graph, x!, filter!, geometry3D(x!.shape, filter!.shape, attrs)),
  );
  kernel<Conv3DAttrs>('Conv3DBackpropInputV2', ({ inputs: { dy, filter }, attrs, graph }) =>
    inputGradient(graph, dy!, filter!, geometry3D(attrs.inputShape!, filter!.shape, attrs)),
  );
  kernel<Conv3DAttrs>('Conv3DBackpropFilterV2', ({ inputs: { x, dy }, attrs, graph }) =>
    filterGradient(graph, x!, dy!, geometry3D(x!.shape, attrs.filterShape!, attrs)),
  );
}

interface FusedAttrs extends ConvAttrs {
  readonly activation?: string;
  readonly leakyreluAlpha?: number;
}

function registerFused(): void {
  kernel<FusedAttrs>('FusedConv2D', (call) => finish(call, conv2D(call)));
  kernel<FusedAttrs>('FusedDepthwiseConv2D', (call) => finish(call, depthwiseConv2D(call)));
}

/** The bias and the activation of tfjs's fused kernels. */
function finish({ inputs: { bias, preluActivationWeights }, attrs, graph }: KernelCall<FusedAttrs>, y: Value): Value {
  const biased = bias ? elementwise(graph, 'Add', y, byChannel(graph, attrs, bias)) : y;
  const slopes = preluActivationWeights && byChannel(graph, attrs, preluActivationWeights);
  return activate(graph, biased, attrs.activation, attrs.leakyreluAlpha, slopes);
}

/** A vector with an entry for each channel, so that it is broadcast along the channels of either layout. */
function byChannel(graph: GraphBuilder, { dataFormat }: ConvAttrs, vector: Value): Value {
  const isFirst = dataFormat === 'NCHW' && vector.shape.length === 1 && vector.shape[0] !== 1;
  return isFirst ? reshape(graph, vector, [vector.shape[0], 1, 1]) : vector;
}
