export type { WorldModelLearner, WorldModelPrediction } from './contract';
export { createWorldModel } from './learner';
export type { PretrainOptions, SimulatorOptions, WorldModelOptions } from './options';
