export { type CellsWorldModelOptions, cellsWorldModel } from './cells';
export { type ObservationsWorldModelOptions, observationsWorldModel } from './observations';
export { type PlanesWorldModelOptions, planesWorldModel } from './planes';
export type { WorldModel, WorldModelBuilder } from './world-model';
