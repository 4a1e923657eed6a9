import { fail } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { type TraceBackend, traceBackendName } from './backend';

/** The part of tfjs's engine that says which backend is in use. Set directly: its `setBackend` is a promise. */
interface Current {
  backendName: string | null;
  backendInstance: tf.KernelBackend | null;
}

/**
 * Makes the tracing backend tfjs's own for the time of a call; afterwards the previous backend is restored, or none.
 */
export function withTraceBackend(backend: TraceBackend, body: () => void): void {
  const engine = tf.engine() as unknown as Current;
  const { backendName, backendInstance } = engine;
  tf.engine().findBackend(traceBackendName()); // makes tfjs call the factory
  Object.assign(engine, { backendName: traceBackendName(), backendInstance: backend });
  try {
    body();
  } finally {
    Object.assign(engine, { backendName, backendInstance });
  }
}

/** The method by which tfjs's engine takes note of every tensor that is made. */
interface Tracker {
  trackTensor(tensor: tf.Tensor, backend: tf.KernelBackend): void;
}

/**
 * Disposes every tensor that a call made and left behind: kept tensors, variables, and tensors that tfjs's tape forgets
 * when a function throws.
 *
 * @returns how many of them `body` left
 */
export function withTracked(body: () => void): number {
  const engine = tf.engine() as unknown as Tracker;
  const made = new Set<tf.Tensor>();
  const track = engine.trackTensor;
  engine.trackTensor = (tensor, backend) => {
    made.add(tensor);
    track.call(engine, tensor, backend);
  };
  let left = 0;
  try {
    body();
  } finally {
    Reflect.deleteProperty(engine, 'trackTensor');
    for (const tensor of made) {
      if (tensor.isDisposed) continue;
      left++;
      tensor.dispose();
    }
  }
  return left;
}

/**
 * A random number drawn while tracing would be the same one in every run. tfjs draws its unseeded ones from
 * Math.random.
 */
export function withoutRandom(where: string, body: () => void): void {
  const { random } = Math;
  Math.random = () =>
    fail(
      where,
      'a traced function to draw no random numbers: every run would get the same ones',
      'an unseeded random operation (tf.randomUniform, a dropout layer in training)',
      'Give the numbers as an input.',
    );
  try {
    body();
  } finally {
    Math.random = random;
  }
}
