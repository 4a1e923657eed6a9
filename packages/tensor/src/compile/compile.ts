import { checkOptions, fail, type NamedArrays, type NDArray } from '@coplay/core';
import { checkFunction, checkRecord } from '@coplay/core/checks';
import type * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { callable } from './callable';
import type { TensorRecord, TensorTree } from './convert';
import { eagerExecutor } from './eager';
import type { AnyStep, Executor, StateOf, Statics, StepResult, StepSetup } from './executor';
import { checkChoice, type ExecutorChoice, planExecutor } from './executor-choice';
import { planned, withFallback } from './fallback';
import { onnxExecutor } from './onnx/executor';
import type { Runtime } from './onnx/runtime';
import type { MemorySetting } from './onnx/session-options';
import { MAX_THREADS, type ThreadSetting } from './onnx/threads';
import { checkName } from './tree';
import { storeOf, type VariableStore, type Variables } from './variables';

/**
 * A function of tensors that can be compiled: it uses tensor operations only (gradients included), reads no values, has
 * no side effects, and draws no random numbers (they enter as inputs).
 */
export type StepFunction<
  Key extends string = string,
  Inputs extends TensorTree = TensorRecord,
  Outputs extends TensorTree = TensorRecord,
> = (state: StateOf<Key>, inputs: Inputs, statics: Statics) => StepResult<Key, Outputs>;

/** How {@link compile} compiles. */
export interface CompileOptions<Key extends string = string> {
  /** For messages and profiles, such as `ppo/update`. */
  readonly name: string;
  /** The groups of variables that the function reads and may replace. */
  readonly state?: Readonly<Record<Key, Variables>>;
  /**
   * `auto` leaves it to `useExecutor`: `onnx` where ONNX Runtime loads, with `wasm` for small graphs; else `wasm`;
   * without WebAssembly `eager`. Default `auto`
   */
  readonly executor?: ExecutorChoice;
  /** Looks at the outputs before the new state is taken; false leaves the state as it was. Default: always taken. */
  readonly acceptState?: (outputs: NamedArrays) => boolean;
  /**
   * What happens with `onnx` where an operation can't be compiled: an error, or all of the function runs eagerly.
   * Default `error`
   */
  readonly unsupported?: 'error' | 'eager';
  /** Threads inside an operation: a number from 1, `fixed` or `trial`. Default: as `useThreads` says, else `fixed` */
  readonly threads?: ThreadSetting;
  /**
   * `system`: arrays inside a call come from the system and go back to it. `arena`: each graph keeps what its largest
   * call needed until the function is disposed; up to a fifth faster where arrays of some MB are made in every call, as
   * in a long training step. For functions of few signatures, of which there are few: Dreamer's updates, not the
   * policies of many agents. With `onnx`. Default `system`
   */
  readonly memory?: MemorySetting;
  /** Keeps the time of every operation, for `operationTimes`; in Node, with `onnx`. Runs are slower. Default false */
  readonly profile?: boolean;
}

/** The arrays that stand for tensors outside: the same records with `NDArray` leaves. */
export type ArraysOf<T> = T extends tf.Tensor ? NDArray : { readonly [Name in keyof T]: ArraysOf<T[Name]> };

/**
 * A compiled function: arrays in, arrays out, state kept behind. Calls of all compiled functions run one after the
 * other, in the order in which they were made, awaited or not (those of `compileScanEach` may overlap where they share
 * no variables); a failing call doesn't affect the others. `variables.read` and `write` don't wait for calls: await
 * those first.
 */
export interface Compiled<Inputs extends TensorTree = TensorRecord, Outputs extends TensorTree = TensorRecord> {
  /**
   * @param inputs   uint8 and float64 arrays become float32 tensors, int32 stays int32. They aren't copied: don't
   *                 change them before the promise resolves
   * @param statics  fixed while the function is traced; another value is another graph
   * @returns the outputs: float32, int32, or uint8 for booleans; they belong to the caller
   */
  (inputs: ArraysOf<Inputs>, statics?: Statics): Promise<ArraysOf<Outputs>>;
  /** Frees the compilation's memory after the calls that were made before; the variables stay. */
  dispose(): void;
}

/** Groups of variables, which are looked at one by one later. */
export const stateSchema = z.custom<object>((x) => typeof x === 'object' && x !== null, {
  error: 'groups of variables',
});

/** Options of all functions that compile. */
export const commonSchema = {
  name: z.string().min(1),
  executor: z.string().optional(),
  acceptState: z.custom<unknown>((x) => typeof x === 'function', { error: 'a function of the outputs' }).optional(),
  threads: z.union([z.int().min(1).max(MAX_THREADS), z.enum(['fixed', 'trial'])]).optional(),
};

const schema = z.strictObject({
  ...commonSchema,
  state: stateSchema.optional(),
  unsupported: z.enum(['error', 'eager']).default('error'),
  memory: z.enum(['system', 'arena']).default('system'),
  profile: z.boolean().default(false),
});

/**
 * Makes a function of arrays out of a function of tensors. With `onnx` it is traced once for each signature (shapes and
 * dtypes of the inputs, static values) into a graph, which ONNX Runtime runs; the graphs of the last 32 signatures are
 * kept.
 *
 * @throws CoplayError for unknown options; and when called with state of other names or shapes than the variables',
 * with the name of the function
 */
export function compile<
  Key extends string = never,
  Inputs extends TensorTree = TensorRecord,
  Outputs extends TensorTree = TensorRecord,
>(fn: StepFunction<Key, Inputs, Outputs>, options: CompileOptions<Key>): Compiled<Inputs, Outputs> {
  checkStep('compile', fn, options);
  const { name, executor = 'auto', acceptState = () => true, state = {} } = options;
  const where = `compile(${name})`;
  checkChoice(where, executor);
  const { unsupported, threads, memory, profile } = checkOptions(where, schema, options);
  const step: StepSetup = { name, fn: fn as unknown as AnyStep, state: checkState(where, state), acceptState };
  const start = async (): Promise<Executor> => {
    const plan = await planExecutor(where, executor);
    const eager = () => eagerExecutor(step);
    const compiled = (runtime: Runtime): Executor => {
      const made = onnxExecutor(runtime, step, { threads, memory, isProfiled: profile });
      return unsupported === 'error' ? made : withFallback(`compiled function ${name}`, made, eager);
    };
    return planned(`compiled function ${name}`, plan, compiled, eager);
  };
  return callable(`compiled function ${name}`, start) as unknown as Compiled<Inputs, Outputs>;
}

/** Refuses a step that is no function, and options that are no record. */
export function checkStep(where: string, fn: unknown, options: unknown): void {
  checkFunction(where, 'fn', fn);
  checkRecord(where, 'options', options);
}

/** The variables of a function; refuses a value that `variables` didn't make. */
export function checkState(where: string, state: Readonly<Record<string, Variables>>): Record<string, VariableStore> {
  for (const [key, group] of Object.entries(state)) {
    storeOf(where, `state.${key}`, group);
  }
  checkGroups(where, state);
  return state as Record<string, VariableStore>;
}

/**
 * Refuses names that a graph can't tell from those of variables, and one thing under two names: which of its new values
 * would be taken?
 */
export function checkGroups(where: string, state: Readonly<Record<string, unknown>>): void {
  const keys = Object.keys(state);
  for (const key of keys) {
    checkName(where, key);
    if (key.includes('/')) fail(where, 'names of groups without a slash', key, 'Rename the group.');
    const first = keys.find((other) => state[other] === state[key]);
    if (first !== key)
      fail(where, 'groups of variables of their own', `${first} and ${key} the same`, 'Declare it once.');
  }
}
