export { csv } from './csv';
export { jsonLines } from './json-lines';
export type { FileLogOptions } from './options';
export { type ProgressOptions, type ProgressStream, progress } from './progress';
export { type ReadLogOptions, readLog } from './rows';
export { type TensorboardOptions, tensorboard } from './tensorboard';
