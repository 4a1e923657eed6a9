import { CoplayError, type NamedArrays, type NDArray } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { callStep, checkNext, isAccepted } from './checks';
import { isArray, isTensor, type TensorRecord, toArray, toTensor } from './convert';
import type { AnyStep, Executor, Statics, StepSetup } from './executor';
import { mapTree, type Tree } from './tree';
import type { VariableStore } from './variables';

/** Runs a step function operation by operation on the current backend. Nothing changes if it throws. */
export function eagerExecutor({ name, fn, state, acceptState }: StepSetup): Executor {
  const where = `compiled function ${name}`;
  return {
    async run(inputs, statics) {
      let result: Tree<NDArray> = {};
      tf.tidy(() => {
        const current: Record<string, TensorRecord> = {};
        for (const key in state) current[key] = state[key].tensors();
        const tensors = mapTree(inputs, isArray, (array, path) => toTensor(where, path, array));
        const { outputs, state: next = {} } = call(where, fn, current, tensors, statics);
        checkNext(where, state, next);
        result = mapTree(outputs, isTensor, toArray);
        if (isAccepted(acceptState(result as NamedArrays))) for (const key in next) commit(state[key], next[key]!);
      });
      return result;
    },
    async dispose() {},
  };
}

function call(where: string, fn: AnyStep, state: Record<string, TensorRecord>, inputs: unknown, statics: Statics) {
  try {
    return callStep(where, fn, state, inputs, statics);
  } catch (error) {
    throw explain(where, error);
  }
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

/** Keeps the new tensors beyond the tidy. One tensor under two names, or an input, gets a handle of its own. */
function commit(group: VariableStore, next: TensorRecord): void {
  const present = group.tensors();
  const all = new Set(Object.values(present));
  const kept: TensorRecord = {};
  for (const name of group.names) {
    const tensor = next[name];
    kept[name] = all.has(tensor) && present[name] === tensor ? tensor : tf.keep(tf.clone(tensor));
  }
  group.replace(kept);
}
