export { type BackendInfo, type BackendName, ensureBackend, useBackend } from './backend';
export { checkTensor } from './check-tensor';
export {
  type Compiled,
  checkThreadChoices,
  compile,
  compileScan,
  compileScanEach,
  compileStacked,
  compileTogether,
  type ExecutorChoice,
  type ExecutorInfo,
  type ExecutorName,
  executorInfo,
  type GraphInspection,
  inspectGraph,
  mergeRows,
  operationTimes,
  restoreThreadChoices,
  type ScanInputs,
  type StackedVariables,
  type StateOf,
  type StepFunction,
  stackVariables,
  type TensorRecord,
  type TensorTree,
  type ThreadChoices,
  type ThreadInfo,
  threadChoices,
  threadInfo,
  useExecutor,
  useOnnxWeb,
  useThreads,
  type Variables,
  variables,
} from './compile';
export { exportOnnx, type OnnxFile, type OnnxInput, type OnnxOptions, toOnnx } from './export';
export { type LossResult, stopGradient, type ValueAndGradients, valueAndGradients } from './gradients';
export { glorotUniform, orthogonal, truncatedNormal, zeros } from './init';
export { applyModel, type LayersModel, readWeights, writeWeights } from './layers-model';
export { adam, adamW, laProp, learningRate, type Optimiser, rmsProp, sgd } from './optimise';
export { tf } from './tf';
