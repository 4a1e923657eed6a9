import { CoplayError, fail } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import type { Graph, NamedValue, Value } from '../graph';
import { explainMissing, TRACE_BACKEND } from './backend';
import { traceBackend } from './kernel';
import { registerKernels } from './kernels';
import { cast } from './kernels/arithmetic';

/** What happens inside a trace. */
export interface Tracing {
  /** An input of the graph, as a tensor. */
  input(name: string, value: Value): tf.Tensor;
  /** Names a tensor as an output of the graph. */
  output(name: string, tensor: tf.Tensor): void;
}

/**
 * Runs `body` once with tensors that record what is done to them.
 *
 * @throws CoplayError for kernels that can't be recorded, values that are read, random numbers drawn
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
      const known = value.dtype === 'uint8' ? cast(backend.builder, value, 'float32') : value;
      return tf.engine().makeTensorFromTensorInfo(backend.handle(known));
    },
    output(name, tensor) {
      outputs.push({ name, value: backend.valueOf(tensor) });
    },
  };
  backend.begin(where);
  try {
    withTraceBackend(() => withoutRandom(where, () => tf.tidy(() => body(tracing))));
    return { inputs, nodes: backend.builder.nodes, outputs };
  } catch (error) {
    throw explain(where, error);
  } finally {
    backend.end();
  }
}

/** Makes the tracing backend tfjs's own for the time of a call. Its factory is synchronous, so the switch is complete at once. */
function withTraceBackend(body: () => void): void {
  const engine = tf.engine();
  const before: string | undefined = engine.backendName;
  void engine.setBackend(TRACE_BACKEND);
  try {
    body();
  } finally {
    if (before) void engine.setBackend(before);
    else Object.assign(engine, { backendName: null, backendInstance: null });
  }
}

/** A random number drawn while tracing would be the same one in every run. tfjs draws its unseeded ones from Math.random. */
function withoutRandom(where: string, body: () => void): void {
  const { random } = Math;
  Math.random = () =>
    fail(
      where,
      'a traced function to draw no random numbers',
      'an unseeded random operation',
      'Give the numbers as an input.',
    );
  try {
    body();
  } finally {
    Math.random = random;
  }
}

function explain(where: string, error: unknown): unknown {
  if (error instanceof CoplayError || !(error instanceof Error)) return error;
  const missing = /Kernel '(\w+)' not registered/.exec(error.message)?.[1];
  if (missing !== undefined) return explainMissing(where, missing, error);
  return new Error(`${where}: ${error.message}`, { cause: error });
}
