export type { WorldModelLearner } from './contract';
export { createWorldModel } from './learner';
export type { WorldModelOptions } from './options';
