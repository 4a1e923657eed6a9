export type { WorldModelLearner, WorldModelPrediction } from './contract';
export { createWorldModel } from './learner';
export type { WorldModelOptions } from './options';
export type { PretrainOptions } from './pretrain';
export type { SimulatorOptions } from './simulator';
