export { applyModel, applyModelOutputs } from './apply-model';
export { readWeights, writeWeights } from './weights';
