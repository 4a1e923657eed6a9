export { type ConvTorsoOptions, conv } from './conv';
export { layersModel, readWeights, writeWeights } from './layers-model';
export { type MlpOptions, mlp } from './mlp';
export { type Torso, type TorsoBuilder, torsoBuilder } from './torso';
