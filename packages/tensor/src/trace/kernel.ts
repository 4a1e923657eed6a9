import * as tf from '@tensorflow/tfjs-core';
import { constant, type GraphBuilder, type Value } from '../graph';
import { ARRAYS, TraceBackend, traceBackendName } from './backend';

/** The arguments of a kernel while tracing. */
export interface KernelCall<Attrs> {
  /** By tfjs's names. */
  readonly inputs: Readonly<Record<string, Value>>;
  /** In order, of kernels that take a list. */
  readonly list: readonly Value[];
  readonly attrs: Attrs;
  readonly graph: GraphBuilder;
  /** The function being traced, for messages. */
  readonly where: string;
}

/** Records a tfjs kernel as nodes and returns its outputs. */
export type TraceKernel<Attrs = Record<string, never>> = (call: KernelCall<Attrs>) => Value | readonly Value[];

let backend: TraceBackend | undefined;

/** The one tracing backend; registered with tfjs on first use, behind every other in tfjs's own choice. */
export function traceBackend(): TraceBackend {
  if (!backend) {
    const made = new TraceBackend();
    tf.registerBackend(traceBackendName(), () => made, -1);
    backend = made;
  }
  return backend;
}

/** Registers a kernel with the tracing backend. */
export function kernel<Attrs = Record<string, never>>(kernelName: string, record: TraceKernel<Attrs>): void {
  tf.registerKernel({
    kernelName,
    backendName: traceBackendName(),
    kernelFunc: ({ inputs, attrs }) => {
      const trace = traceBackend();
      const values: Record<string, Value> = {};
      for (const name in inputs) {
        const given = inputs[name];
        if (given) values[name] = trace.valueOf(given as tf.TensorInfo);
      }
      const made = record({
        inputs: values,
        list: Object.values(values),
        attrs: (attrs ?? {}) as Attrs,
        graph: trace.builder,
        where: trace.traced,
      });
      return Array.isArray(made) ? made.map((value) => trace.handle(known(value))) : trace.handle(known(made as Value));
    },
  });
}

/**
 * An empty value is a constant: nodes never make one that is read, so that ONNX Runtime's kernels needn't cope with
 * them.
 */
export function known(value: Value): Value {
  return value.shape.includes(0) ? constant(new ARRAYS[value.dtype](0), value.shape, value.dtype) : value;
}
