export {
  createWorldModel,
  type WorldModelLearner,
  type WorldModelPrediction,
} from './learner';
export type { WorldModelOptions } from './options';
export type { PretrainOptions } from './pretrain';
export type { SimulatorOptions } from './simulator';
