export { type CellsWorldModelOptions, cellsWorldModel } from './cells';
export { type PlanesWorldModelOptions, planesWorldModel } from './planes';
export { meanReward, REWARD_BINS, twoHot } from './two-hot';
export type { WorldModel, WorldModelBuilder } from './world-model';
