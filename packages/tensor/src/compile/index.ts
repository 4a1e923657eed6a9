export type { PassMeasure } from '../passes';
export { inspectGraph, operationTimes } from './callable';
export {
  type ArraysOf,
  type Compiled,
  type CompileOptions,
  compile,
  type StepFunction,
} from './compile';
export type { TensorRecord, TensorTree } from './convert';
export { compileScanEach, type ScanEachOptions } from './each';
export type { GraphInspection, StateOf, Statics, StepResult } from './executor';
export {
  type ExecutorChoice,
  type ExecutorInfo,
  type ExecutorName,
  executorInfo,
  useExecutor,
} from './executor-choice';
export type { OperationTime } from './onnx/profile';
export type { MemorySetting } from './onnx/session-options';
export {
  checkThreadChoices,
  restoreThreadChoices,
  type ThreadChoices,
  type ThreadInfo,
  type ThreadSetting,
  threadChoices,
  threadInfo,
  useThreads,
} from './onnx/threads';
export { compileScan, type ScanInputs, type ScanOptions } from './scan';
export {
  compileStacked,
  compileTogether,
  mergeRows,
  type StackedOptions,
  type StackedVariables,
  type StackLayout,
  stackVariables,
  type TogetherOptions,
} from './stacked';
export type { Tree } from './tree';
export { type Variables, variables } from './variables';
export { type OnnxWeb, type OnnxWebOptions, useOnnxWeb } from './web';
