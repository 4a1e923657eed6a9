export { activate } from './activations';
export { type ConvOptions, type ConvStack, convStack } from './conv';
export { type DenseOptions, denseLayer } from './dense';
export { type Gru, gru } from './gru';
export type { Activation, Layer } from './layer';
export { prefixed, within } from './params';
export { sequential } from './sequential';
