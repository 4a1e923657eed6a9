export { canCentre, centredEncoder, showsSelf } from './centred';
export { actingRows, cutRows, experienceRows, inputEncoder } from './encoder';
export {
  flatSize,
  type InputEncoder,
  type InputKinds,
  type InputOptions,
  type InputShapes,
  type RowSource,
  type SeenGame,
  shapesSchema,
} from './input-encoder';
export { jointEncoder } from './joint';
