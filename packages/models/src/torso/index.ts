export { type ConvTorsoOptions, conv } from './conv';
export { layersModel } from './layers-model';
export { type MlpOptions, mlp } from './mlp';
export { type Torso, type TorsoBuilder, torsoBuilder, torsoBuilderId } from './torso';
