export {
  type Compiled,
  type CompileOptions,
  compile,
  type StateOf,
  type StepFunction,
  type StepResult,
} from './compile';
export type { TensorRecord } from './convert';
export { type Variables, variables } from './variables';
