export { type MinibatchPlan, planMinibatches } from './plan';
export { createPpoBuffer, type MinibatchRows, type PpoBuffer } from './ppo-buffer';
