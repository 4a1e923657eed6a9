export { applyModel, applyModelOutputs } from './apply-model';
export type { LayersModel, LayersModelWeight } from './layers-model';
export { readWeights, writeWeights } from './weights';
