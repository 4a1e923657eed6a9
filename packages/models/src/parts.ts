/*
 * `@coplay/models/layers`: the parts of networks of your own. Each is a record of functions over named parameters, or
 * has `specs`: shapes and initial distributions of its parameters.
 */
export { flatSize } from './inputs';
export {
  type Activation,
  activate,
  blockDense,
  blockDenseSpecs,
  type ConvOptions,
  type ConvStack,
  convStack,
  countParams,
  type DenseOptions,
  denseLayer,
  type Gru,
  gru,
  initialise,
  type Layer,
  linear,
  linearSpecs,
  type NormMlp,
  normLayer,
  normLayerSpecs,
  normMlp,
  type ParamSpec,
  type ParamSpecs,
  prefixed,
  prefixedSpecs,
  rmsNorm,
  sequential,
  within,
} from './layers';
export { type Torso, torsoBuilder } from './torso';
