export { applyModel, applyModelOutputs } from './apply-model';
export type { LayersModel } from './layers-model';
export { readWeights, writeWeights } from './weights';
