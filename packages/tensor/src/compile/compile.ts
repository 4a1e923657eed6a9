import { fail, type NamedArrays, type NDArray, show } from '@coplay/core';
import type * as tf from '@tensorflow/tfjs-core';
import { isArray, type TensorRecord, type TensorTree } from './convert';
import { eagerExecutor } from './eager';
import type { AnyStep, Executor, StateOf, Statics, StepResult } from './executor';
import { onnxExecutor } from './onnx/executor';
import { loadRuntime } from './onnx/runtime';
import { leavesOf, type Tree } from './tree';
import { VariableStore, type Variables } from './variables';

/**
 * A function of tensors that can be compiled: it uses tensor operations only (gradients included), reads no values, has no
 * effect besides its result, and draws no random numbers (they enter as inputs).
 */
export type StepFunction<
  Key extends string = string,
  Inputs extends TensorTree = TensorRecord,
  Outputs extends TensorTree = TensorRecord,
> = (state: StateOf<Key>, inputs: Inputs, statics: Statics) => StepResult<Key, Outputs>;

/** The machine that runs compiled functions: ONNX Runtime, or tfjs operation by operation. */
export type ExecutorName = 'onnx' | 'eager';

/** How {@link compile} compiles. */
export interface CompileOptions<Key extends string = string> {
  /** For messages and profiles, such as `ppo/update`. */
  readonly name: string;
  /** The groups of variables that the function reads and may replace. */
  readonly state?: Readonly<Record<Key, Variables>>;
  /** `auto` takes `onnx` where onnxruntime-node loads, else `eager`. Default `auto` */
  readonly executor?: 'auto' | ExecutorName;
  /** Looks at the outputs before the new state is taken; false leaves the state as it was. Default: always taken. */
  readonly acceptState?: (outputs: NamedArrays) => boolean;
}

/** The arrays that stand for tensors outside: the same records with `NDArray` leaves. */
export type ArraysOf<T> = T extends tf.Tensor ? NDArray : { readonly [Name in keyof T]: ArraysOf<T[Name]> };

/** A compiled function: arrays in, arrays out, state kept behind. Calls run one after the other, in order. */
export interface Compiled<Inputs extends TensorTree = TensorRecord, Outputs extends TensorTree = TensorRecord> {
  /**
   * @param inputs   uint8 and float64 arrays become float32 tensors, int32 stays int32; don't change them before the promise resolves
   * @param statics  fixed while the function is traced; another value is another graph
   * @returns the outputs: float32, int32, or uint8 for booleans; they belong to the caller
   */
  (inputs: ArraysOf<Inputs>, statics?: Statics): Promise<ArraysOf<Outputs>>;
  /** Frees what the compilation holds; the variables stay. */
  dispose(): void;
}

/**
 * Makes a function of arrays out of a function of tensors. With `onnx` it is traced once for each signature (shapes and
 * dtypes of the inputs, static values) into a graph, which ONNX Runtime runs.
 *
 * @throws CoplayError when called with state of other names or shapes than the variables', with the name of the function
 */
export function compile<
  Key extends string = never,
  Inputs extends TensorTree = TensorRecord,
  Outputs extends TensorTree = TensorRecord,
>(fn: StepFunction<Key, Inputs, Outputs>, options: CompileOptions<Key>): Compiled<Inputs, Outputs> {
  const { name } = options;
  const start = chooseExecutor(fn as unknown as AnyStep, options);
  const where = `compiled function ${name}`;
  let machine: Promise<Executor> | undefined;
  let isDisposed = false;
  const compiled = async (inputs: Tree<NDArray>, statics: Statics = {}): Promise<Tree<NDArray>> => {
    if (isDisposed) fail(where, 'a call before dispose()', 'one after it', 'Compile it again.');
    leavesOf(`${where}: inputs`, inputs, isArray);
    machine ??= start();
    return (await machine).run(inputs, statics);
  };
  const dispose = (): void => {
    isDisposed = true;
    void machine?.then((executor) => executor.dispose());
  };
  return Object.assign(compiled as unknown as Compiled<Inputs, Outputs>, { dispose });
}

function chooseExecutor(fn: AnyStep, options: CompileOptions<string>): () => Promise<Executor> {
  const { name, executor = 'auto', acceptState } = options;
  const state = checkState(name, options.state ?? {});
  const eager = () => eagerExecutor(name, fn, state, acceptState);
  if (executor === 'eager') return async () => eager();
  if (executor !== 'auto' && executor !== 'onnx') {
    fail(`compile(${name})`, "executor 'auto', 'onnx' or 'eager'", show(executor), "Leave it out for 'auto'.");
  }
  return async () => {
    const { runtime, reason } = await loadRuntime();
    if (runtime) return onnxExecutor(runtime, name, fn, state, acceptState);
    if (executor === 'auto') return eager();
    return fail(
      `compile(${name})`,
      'onnxruntime-node, for the executor onnx',
      reason,
      'Install it, or leave executor out.',
    );
  };
}

function checkState(name: string, state: Readonly<Record<string, Variables>>): Record<string, VariableStore> {
  for (const [key, group] of Object.entries(state)) {
    if (group instanceof VariableStore) continue;
    fail(`compile(${name})`, `state.${key} made by variables()`, show(group), 'Wrap the arrays: variables(arrays).');
  }
  return state as Record<string, VariableStore>;
}
