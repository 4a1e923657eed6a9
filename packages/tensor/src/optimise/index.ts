export { type AdamOptions, adam } from './adam';
export type { CommonOptions, Optimiser, OptimiserUpdate } from './optimiser';
export { type RmsPropOptions, rmsProp } from './rms-prop';
export { type SgdOptions, sgd } from './sgd';
