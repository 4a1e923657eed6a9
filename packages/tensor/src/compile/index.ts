export { inspectGraph, operationTimes } from './callable';
export { type Compiled, compile, type StepFunction } from './compile';
export type { TensorRecord, TensorTree } from './convert';
export { compileScanEach } from './each';
export type { GraphInspection, StateOf } from './executor';
export {
  type ExecutorChoice,
  type ExecutorInfo,
  type ExecutorName,
  executorInfo,
  useExecutor,
} from './executor-choice';
export { compileScan, type ScanInputs } from './scan';
export { compileStacked, compileTogether, mergeRows, type StackedVariables, stackVariables } from './stacked';
export { type Variables, variables } from './variables';
export { useOnnxWeb } from './web';
