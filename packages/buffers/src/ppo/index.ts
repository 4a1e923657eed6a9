export { type MinibatchOptions, type MinibatchPlan, planMinibatches } from './plan';
export { createPpoBuffer, type PpoBuffer, type RowCounts } from './ppo-buffer';
