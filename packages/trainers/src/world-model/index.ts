export type { WorldModelLearner } from './contract';
export { createWorldModel } from './learner';
export { checkModelOptions, type WorldModelOptions, worldModelNames } from './options';
export { hasWholePast } from './transitions';
