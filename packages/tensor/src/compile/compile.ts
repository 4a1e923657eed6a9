import { fail, type NamedArrays, show } from '@coplay/core';
import type { TensorRecord } from './convert';
import { eagerExecutor } from './eager';
import { VariableStore, type Variables } from './variables';

/** The tensors of each group of variables: `{ params, slots }`. */
export type StateOf<Key extends string> = Readonly<Record<Key, TensorRecord>>;

/** What a step function returns. */
export interface StepResult<Key extends string = string> {
  /** New values, complete, of the groups that change. Names, shapes and dtypes must be those of the group. */
  readonly state?: Partial<Record<Key, TensorRecord>>;
  /** What the caller gets, as arrays. */
  readonly outputs: TensorRecord;
}

/**
 * A function of tensors that can be compiled: it uses tensor operations only (gradients included), reads no values, has no
 * effect besides its result, and draws no random numbers (they enter as inputs).
 */
export type StepFunction<Key extends string = string> = (state: StateOf<Key>, inputs: TensorRecord) => StepResult<Key>;

/** How {@link compile} compiles. */
export interface CompileOptions<Key extends string = string> {
  /** For messages and profiles, such as `ppo/update`. */
  readonly name: string;
  /** The groups of variables that the function reads and may replace. */
  readonly state?: Readonly<Record<Key, Variables>>;
  /** `auto` takes the fastest executor there is; `eager` runs the operations one by one. Today both are eager. */
  readonly executor?: 'auto' | 'eager';
  /** Looks at the outputs before the new state is taken; false leaves the state as it was. Default: always taken. */
  readonly acceptState?: (outputs: NamedArrays) => boolean;
}

/** A compiled function: arrays in, arrays out, state kept behind. Calls run one after the other, in order. */
export interface Compiled {
  /**
   * @param inputs  uint8 and float64 arrays become float32 tensors, int32 stays int32
   * @returns the outputs: float32, int32, or uint8 for booleans; they belong to the caller
   */
  (inputs: NamedArrays): Promise<NamedArrays>;
  /** Frees what the compilation holds; the variables stay. */
  dispose(): void;
}

/** Runs a step on arrays and replaces the state; what an executor is. */
export interface Executor {
  run(inputs: NamedArrays): NamedArrays | Promise<NamedArrays>;
  dispose(): void;
}

/**
 * Makes a function of arrays out of a function of tensors.
 *
 * @throws CoplayError when called with state of other names or shapes than the variables', with the name of the function
 */
export function compile<Key extends string = never>(fn: StepFunction<Key>, options: CompileOptions<Key>): Compiled {
  const { name, executor = 'auto' } = options;
  const state = checkState(name, options.state ?? {});
  if (executor !== 'auto' && executor !== 'eager') {
    fail(`compile(${name})`, "executor 'auto' or 'eager'", show(executor), "Leave it out for 'auto'.");
  }
  const machine = eagerExecutor(name, fn as StepFunction, state, options.acceptState);
  let isDisposed = false;
  const compiled = async (inputs: NamedArrays): Promise<NamedArrays> => {
    if (isDisposed) fail(`compiled function ${name}`, 'a call before dispose()', 'one after it', 'Compile it again.');
    return machine.run(inputs);
  };
  const dispose = (): void => {
    isDisposed = true;
    machine.dispose();
  };
  return Object.assign(compiled, { dispose });
}

function checkState(name: string, state: Readonly<Record<string, Variables>>): Record<string, VariableStore> {
  for (const [key, group] of Object.entries(state)) {
    if (group instanceof VariableStore) continue;
    fail(`compile(${name})`, `state.${key} made by variables()`, show(group), 'Wrap the arrays: variables(arrays).');
  }
  return state as Record<string, VariableStore>;
}
