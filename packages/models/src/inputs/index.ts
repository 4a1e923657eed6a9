export { canCentre, centredEncoder, showsSelf } from './centred';
export {
  type InputEncoder,
  type InputKind,
  type InputKinds,
  type InputOptions,
  type InputReading,
  type InputShapes,
  inputEncoder,
  type RowSource,
  type SeenGame,
} from './encoder';
export { flatSize, jointEncoder } from './joint';
export { actingRows, cutRows, experienceRows } from './sources';
