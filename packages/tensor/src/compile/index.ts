export {
  type ArraysOf,
  type Compiled,
  type CompileOptions,
  compile,
  type ExecutorName,
  type StepFunction,
} from './compile';
export type { TensorRecord, TensorTree } from './convert';
export type { StateOf, Statics, StepResult } from './executor';
export { type Variables, variables } from './variables';
