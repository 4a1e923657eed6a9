import { CoplayError, fail } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import type { Graph, NamedValue, Value } from '../graph';
import { explainMissing } from './backend';
import { known, traceBackend } from './kernel';
import { registerKernels } from './kernels';
import { cast } from './kernels/arithmetic';
import { withoutRandom, withTraceBackend, withTracked } from './surroundings';

/** What happens inside a trace. */
export interface Tracing {
  /** An input of the graph, as a tensor. */
  input(name: string, value: Value): tf.Tensor;
  /** Names a tensor as an output of the graph. */
  output(name: string, tensor: tf.Tensor): void;
}

/**
 * Runs `body` once with tensors that record the operations on them. Nothing remains of it in tfjs: its tensors are
 * disposed, its backend is restored.
 *
 * @throws CoplayError for kernels that can't be recorded, values that are read, random numbers drawn, tensors kept
 */
export function trace(where: string, body: (tracing: Tracing) => void): Graph {
  registerKernels();
  const backend = traceBackend();
  const inputs: NamedValue[] = [];
  const outputs: NamedValue[] = [];
  const tracing: Tracing = {
    input(name, value) {
      inputs.push({ name, value });
      // tfjs knows no bytes: they become float32, which is what eager execution makes of them too.
      const typed = value.dtype === 'uint8' ? cast(backend.builder, value, 'float32') : value;
      return tf.engine().makeTensorFromTensorInfo(backend.handle(known(typed)));
    },
    output(name, tensor) {
      outputs.push({ name, value: backend.valueOf(tensor) });
    },
  };
  backend.begin(where);
  try {
    withTraceBackend(backend, () => {
      const leaked = withTracked(() => withoutRandom(where, () => tf.tidy(() => body(tracing))));
      if (leaked > 0) failLeaked(where, leaked);
    });
    if (backend.complaint) throw backend.complaint;
    return { inputs, nodes: backend.builder.nodes, outputs };
  } catch (error) {
    throw explain(where, backend.complaint ?? error);
  } finally {
    backend.end();
  }
}

function failLeaked(where: string, count: number): never {
  const expected = 'tensors made inside to be used inside: outside of it they have no values';
  const got = `${count} kept beyond it by tf.keep, tf.variable or an optimiser of tf.train`;
  return fail(where, expected, got, 'Return them as outputs or as state; make constants outside.');
}

function explain(where: string, error: unknown): unknown {
  if (error instanceof CoplayError || !(error instanceof Error)) return error;
  const missing = /Kernel '(\w+)' not registered/.exec(error.message)?.[1];
  if (missing !== undefined) return explainMissing(where, missing, error);
  return new Error(`${where}: ${error.message}`, { cause: error });
}
