export { csv } from './csv';
export { jsonLines } from './json-lines';
export { progress } from './progress';
export { type ReadLogOptions, readLog } from './rows';
export { tensorboard } from './tensorboard';
