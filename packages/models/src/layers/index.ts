export { activate } from './activations';
export { blockDense, blockDenseSpecs, fromBlocks, toBlocks } from './block-dense';
export { type ConvOptions, type ConvStack, convStack } from './conv';
export { type DenseOptions, denseLayer } from './dense';
export { type Gru, gru } from './gru';
export type { Activation, Layer } from './layer';
export { linear, type NormMlp, normed, normLayer, normLayerSpecs, normMlp } from './norm-mlp';
export {
  countParams,
  initialise,
  linearSpecs,
  type ParamSpec,
  type ParamSpecs,
  prefixedSpecs,
} from './param-specs';
export { prefixed, within } from './params';
export { rmsNorm } from './rms-norm';
export { sequential } from './sequential';
