export { type BackendInfo, type BackendName, ensureBackend, useBackend } from './backend';
export { checkTensor } from './check-tensor';
export {
  type Compiled,
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
  type ScanInputs,
  type StackedVariables,
  type StateOf,
  type StepFunction,
  stackVariables,
  type TensorRecord,
  type TensorTree,
  useExecutor,
  useOnnxWeb,
  type Variables,
  variables,
} from './compile';
export { type LossResult, stopGradient, type ValueAndGradients, valueAndGradients } from './gradients';
export { glorotUniform, orthogonal, truncatedNormal, zeros } from './init';
export { applyModel, applyModelOutputs, type LayersModel, readWeights, writeWeights } from './layers-model';
export { adam, adamW, laProp, learningRate, type Optimiser, rmsProp, sgd } from './optimise';
export { tf } from './tf';
