export { encodeModel, type ModelInfo, modelBytes } from './model';
export type { Bytes } from './protobuf';
