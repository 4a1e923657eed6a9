export { type AdamOptions, adam, adamW } from './adam';
export type { ClipOptions } from './clip';
export { type LaPropOptions, laProp } from './la-prop';
export { type LearningRateOptions, learningRate } from './learning-rate';
export type { MomentOptions } from './moments';
export type { Optimiser, OptimiserUpdate } from './optimiser';
export { type RmsPropOptions, rmsProp } from './rms-prop';
export { type SgdOptions, sgd } from './sgd';
