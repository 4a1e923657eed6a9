import { CoplayError, fail, type NamedArrays, show } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import type { Executor, StepFunction, StepResult } from './compile';
import { type TensorRecord, toArray, toTensor } from './convert';
import { checkRecord, type VariableStore } from './variables';

/** Runs a step function operation by operation on the current backend. Nothing changes if it throws. */
export function eagerExecutor(
  name: string,
  fn: StepFunction,
  state: Record<string, VariableStore>,
  acceptState: (outputs: NamedArrays) => boolean = () => true,
): Executor {
  const where = `compiled function ${name}`;
  return {
    run(inputs) {
      let result: NamedArrays = {};
      tf.tidy(() => {
        const current: Record<string, TensorRecord> = {};
        for (const key in state) current[key] = state[key].tensors();
        const { outputs, state: next = {} } = callWith(where, fn, current, uploadInputs(where, inputs));
        checkNext(where, state, next);
        result = download(outputs);
        if (acceptState(result)) for (const key in next) commit(state[key], next[key]!);
      });
      return result;
    },
    dispose() {},
  };
}

function callWith(
  where: string,
  fn: StepFunction,
  state: Record<string, TensorRecord>,
  inputs: TensorRecord,
): StepResult {
  try {
    const result = fn(state, inputs);
    checkOutputs(where, result);
    return result;
  } catch (error) {
    throw explain(where, error);
  }
}

function checkOutputs(where: string, result: StepResult): void {
  const outputs: Record<string, unknown> | undefined = result?.outputs;
  if (outputs === undefined)
    fail(where, '{ outputs, state? } returned', show(result), 'Return it, not a promise of it.');
  const odd = Object.keys(outputs).find((name) => !(outputs[name] instanceof tf.Tensor));
  if (odd !== undefined)
    fail(where, `outputs.${odd} to be a tensor`, show(outputs[odd]), 'Use tf.scalar for a number.');
}

/** tfjs's errors don't say whose function failed. */
function explain(where: string, error: unknown): unknown {
  if (error instanceof CoplayError || !(error instanceof Error)) return error;
  const kernel = /Kernel '(\w+)' not registered/.exec(error.message)?.[1];
  if (kernel === undefined) return new Error(`${where}: ${error.message}`, { cause: error });
  const complaint = {
    where,
    expected: 'operations that the backend has',
    got: `the kernel ${kernel}, which ${tf.getBackend()} lacks`,
    remedy: "Use another operation, or another backend: await useBackend('cpu').",
  };
  return new CoplayError(complaint, { cause: error });
}

function uploadInputs(where: string, arrays: NamedArrays): TensorRecord {
  const tensors: TensorRecord = {};
  for (const name in arrays) tensors[name] = toTensor(where, name, arrays[name]);
  return tensors;
}

function download(outputs: TensorRecord): NamedArrays {
  const arrays: NamedArrays = {};
  for (const name in outputs) arrays[name] = toArray(outputs[name]);
  return arrays;
}

function checkNext(
  where: string,
  state: Record<string, VariableStore>,
  next: Record<string, TensorRecord | undefined>,
): void {
  for (const key of Object.keys(next)) {
    const group = state[key];
    const keys = Object.keys(state).join(', ') || 'none';
    if (!group)
      fail(where, `new state for its groups alone (${keys})`, key, `Declare it: compile(fn, { state: { ${key} } }).`);
    const present = group.tensors();
    checkRecord(`${where}: state.${key}`, group, next[key]!);
    for (const name of group.names) {
      const { dtype } = next[key]![name];
      if (dtype !== present[name].dtype) {
        fail(`${where}: state.${key}`, `${name} of dtype ${present[name].dtype}`, dtype, 'Cast it.');
      }
    }
  }
}

/** Keeps the new tensors beyond the tidy. One tensor under two names, or an input, gets a handle of its own. */
function commit(group: VariableStore, next: TensorRecord): void {
  const present = new Set(Object.values(group.tensors()));
  const kept: TensorRecord = {};
  for (const name of group.names) {
    const tensor = next[name];
    kept[name] = present.has(tensor) && group.tensors()[name] === tensor ? tensor : tf.keep(tf.clone(tensor));
  }
  group.replace(kept);
}
