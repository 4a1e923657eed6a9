export { canCentre, centredEncoder } from './centred';
export { type InputEncoder, type InputOptions, type InputShapes, inputEncoder, type RowSource } from './encoder';
export { flatSize, jointEncoder } from './joint';
export { actingRows, cutRows, experienceRows } from './sources';
