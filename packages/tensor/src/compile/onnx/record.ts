import type { NDArray } from '@coplay/core';
import { dtypeOf } from '@coplay/core/arrays';
import type * as tf from '@tensorflow/tfjs-core';
import type { Graph, Value, ValueType } from '../../graph';
import { trace } from '../../trace';
import { callStep, checkNext } from '../checks';
import { checkDtype, isArray, isTensor, type TensorRecord } from '../convert';
import type { AnyStep, Statics } from '../executor';
import { type Entry, mapTree, type Tree } from '../tree';
import type { VariableStore } from '../variables';

/**
 * A traced step function. Inputs of the graph are `in/PATH` and `state/GROUP/NAME`, outputs `out/PATH` and
 * `next/GROUP/NAME`.
 */
export interface Recorded {
  readonly graph: Graph;
  /** The shape of the outputs' tree; leaves are names of outputs of the graph. */
  readonly outputs: Tree<string>;
}

/** Traces a step function for inputs like these. */
export function record(
  where: string,
  fn: AnyStep,
  state: Readonly<Record<string, VariableStore>>,
  inputs: Tree<NDArray>,
  statics: Statics,
): Recorded {
  let outputs: Tree<string> = {};
  const graph = trace(where, ({ input, output }) => {
    const tensors = mapTree(inputs, isArray, (array, path) => {
      checkDtype(where, path, array);
      return input(`in/${path}`, { shape: [...array.shape], dtype: inputType(array) });
    });
    const current: Record<string, TensorRecord> = {};
    for (const key in state) current[key] = groupTensors(key, state[key], input);
    const result = callStep(where, fn, current, tensors, statics);
    const next = (result.state ?? {}) as Record<string, TensorRecord>;
    checkNext(where, state, next);
    for (const key in next) for (const name of state[key].names) output(`next/${key}/${name}`, next[key][name]);
    outputs = mapTree(result.outputs, isTensor, (tensor, path) => {
      output(`out/${path}`, tensor);
      return `out/${path}`;
    });
  });
  return { graph, outputs };
}

function groupTensors(
  key: string,
  group: VariableStore,
  input: (name: string, value: Value) => tf.Tensor,
): TensorRecord {
  return Object.fromEntries(
    group.names.map((name) => [
      name,
      input(`state/${key}/${name}`, { shape: group.shapes[name], dtype: group.dtypes[name] }),
    ]),
  );
}

/** The dtype in which an array is fed: bytes are cast in the graph, float64 before it. */
export function inputType(array: NDArray): ValueType {
  const dtype = dtypeOf(array.data);
  return dtype === 'int32' || dtype === 'uint8' ? dtype : 'float32';
}

/** What tells inputs that need different graphs apart. */
export function signatureOf(leaves: readonly Entry<NDArray>[], statics: Statics): string {
  let signature = '';
  for (const [path, { data, shape }] of leaves) signature += `${path}:${dtypeOf(data)}[${shape}];`;
  for (const name in statics) signature += `${name}=${wordFor(statics[name])};`;
  return signature;
}

/** JSON has no word for numbers that aren't finite, nor for -0. */
function wordFor(value: Statics[string]): string {
  return typeof value === 'number' ? (Object.is(value, -0) ? '-0' : String(value)) : JSON.stringify(value);
}
