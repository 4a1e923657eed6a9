export { type Gaussian, gaussianKl, gaussianSample, standardKl } from './gaussian';
export { type HistoryRows, type InferenceTargets, type SubgoalInference, subgoalInference } from './inference';
export type { OmgRows } from './likelihood';
export type { OmgLoss, OmgNetOptions } from './options';
export { type SelectionSteps, type SubgoalSelector, selectSubgoals } from './selector';
export { type StateVae, stateVae } from './vae';
