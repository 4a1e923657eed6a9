import * as tf from '@tensorflow/tfjs-core';
import type { TensorRecord } from '../compile/convert';

/** A loss function's result. */
export interface LossResult {
  readonly loss: tf.Scalar;
  /** Anything else worth knowing; not differentiated. */
  readonly metrics?: TensorRecord;
}

/** What {@link valueAndGradients} returns. */
export interface ValueAndGradients {
  readonly loss: tf.Scalar;
  /** Of the loss, for each parameter, in its shape; zeros where the loss doesn't depend on it. */
  readonly gradients: TensorRecord;
  readonly metrics: TensorRecord;
}

/**
 * The loss, its gradients with respect to every parameter, and metrics that survive the gradient tape. Usable inside a
 * compiled function; elsewhere wrap it in `tf.tidy` or dispose its result.
 *
 * @param lossFn  must use the tensors of `params` that it's given, and return a scalar loss
 */
export function valueAndGradients(
  lossFn: (params: TensorRecord) => LossResult,
  params: TensorRecord,
): ValueAndGradients {
  const kept: TensorRecord = {};
  const names = Object.keys(params);
  try {
    const forward = (): tf.Scalar => {
      const { loss, metrics = {} } = lossFn(params);
      for (const name in metrics) kept[name] = tf.keep(tf.clone(metrics[name]));
      return loss;
    };
    const tensors = names.map((name) => params[name]);
    const { value, grads } = tf.engine().gradients(forward, tensors, undefined, true);
    const gradients: TensorRecord = {};
    names.forEach((name, i) => {
      gradients[name] = (grads[i] as tf.Tensor | undefined) ?? tf.zerosLike(tensors[i]);
    });
    return { loss: value as tf.Scalar, gradients, metrics: rescope(kept) };
  } finally {
    clearTape();
    tf.dispose(kept);
  }
}

/** Where a loss throws, tfjs forgets to free the tensors that it saved for the way back. */
function clearTape(): void {
  const { state } = tf.engine();
  if (state.gradientDepth > 0 || !state.activeTape) return;
  for (const { saved } of state.activeTape) if (saved) tf.dispose(saved);
  state.activeTape = null as never;
}

/** Copies that share the data and belong to the caller's scope. */
function rescope(tensors: TensorRecord): TensorRecord {
  return Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, tf.clone(tensor)]));
}
