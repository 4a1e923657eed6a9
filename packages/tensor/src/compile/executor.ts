import type { NamedArrays, NDArray } from '@coplay/core';
import type { PassMeasure } from '../passes';
import type { TensorRecord, TensorTree } from './convert';
import type { OperationTime } from './onnx/profile';
import type { Tree } from './tree';
import type { VariableStore } from './variables';

/** The cost of preparing a compiled function's graph, once for each signature. */
export interface GraphInspection {
  /** Milliseconds of tracing the function. */
  readonly traceMilliseconds: number;
  /** Milliseconds of all passes. */
  readonly passMilliseconds: number;
  /** Milliseconds in which ONNX Runtime loads the graph. */
  readonly sessionMilliseconds: number;
  /** The graph as traced, and after each pass in turn. */
  readonly passes: readonly PassMeasure[];
}

/** The tensors of each group of variables: `{ params, slots }`. */
export type StateOf<Key extends string> = Readonly<Record<Key, TensorRecord>>;

/** Values that are fixed while a function is traced: a change of one means another graph. */
export type Statics = Readonly<Record<string, string | number | boolean | null>>;

/** A step function's result. */
export interface StepResult<Key extends string = string, Outputs extends TensorTree = TensorTree> {
  /** New values, complete, of the groups that change. Names, shapes and dtypes must equal the group's. */
  readonly state?: Partial<Record<Key, TensorRecord>>;
  /** The caller's result, as arrays. */
  readonly outputs: Outputs;
}

/** A step function with any groups, inputs and outputs. */
export type AnyStep = (state: StateOf<string>, inputs: never, statics: Statics) => StepResult;

/** A function to compile, its variables, and the condition on its outputs under which the new state is accepted. */
export interface StepSetup {
  readonly name: string;
  readonly fn: AnyStep;
  readonly state: Readonly<Record<string, VariableStore>>;
  readonly acceptState: (outputs: NamedArrays) => boolean;
}

/** Runs a step on arrays and replaces the state. Calls come one at a time, each when the one before has ended. */
export interface Executor {
  run(inputs: Tree<NDArray>, statics: Statics): Promise<Tree<NDArray>>;
  dispose(): Promise<void>;
  /** Times of operations since the last time, where they're kept. */
  profile?(): Promise<readonly OperationTime[] | undefined>;
  /** Measures the cost of preparing a graph, where there are graphs. */
  inspect?(inputs: Tree<NDArray>, statics: Statics): Promise<GraphInspection>;
}
