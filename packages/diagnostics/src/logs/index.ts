export { csv } from './csv';
export { jsonLines } from './json-lines';
export { type MlflowOptions, mlflow } from './mlflow';
export { progress } from './progress';
export { type ReadLogOptions, readLog } from './rows';
export { tensorboard } from './tensorboard';
export { type WandbOptions, wandb } from './wandb';
