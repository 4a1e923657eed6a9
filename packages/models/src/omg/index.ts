export { type HistoryRows, type InferenceTargets, type SubgoalInference, subgoalInference } from './inference';
export type { OmgRows } from './likelihood';
export type { OmgNetOptions } from './options';
export { type SubgoalSelector, selectSubgoals } from './selector';
export { type StateVae, stateVae } from './vae';
