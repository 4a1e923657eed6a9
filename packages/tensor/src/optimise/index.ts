export { adam, adamW } from './adam';
export { laProp } from './la-prop';
export { learningRate } from './learning-rate';
export type { Optimiser } from './optimiser';
export { rmsProp } from './rms-prop';
export { sgd } from './sgd';
