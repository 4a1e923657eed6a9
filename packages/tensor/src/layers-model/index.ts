export { applyModel } from './apply-model';
export { readWeights, writeWeights } from './weights';
