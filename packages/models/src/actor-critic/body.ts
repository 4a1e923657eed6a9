import type { Generator, NamedArrays } from '@coplay/core';
import type { TensorRecord, tf } from '@coplay/tensor';
import type { Torso } from '../torso';
import type { RecordedRows } from './recorded-rows';

/** Everything of a network below its head: with or without memory. */
export interface Body {
  readonly outputSize: number;
  init(generator: Generator): NamedArrays;
  /** One step: [B, ...] to features [B, outputSize], and the next state where there is one. */
  step(params: TensorRecord, inputs: TensorRecord, state?: tf.Tensor2D): { features: tf.Tensor2D; next?: tf.Tensor2D };
  /** Recorded rows to features [N, outputSize], and the state after each step where there is one. */
  unroll(params: TensorRecord, rows: RecordedRows): { features: tf.Tensor2D; states?: tf.Tensor3D };
}

/** A torso alone. */
export function feedforward(torso: Torso): Body {
  return {
    outputSize: torso.outputSize,
    init: torso.init,
    step: (params, inputs) => ({ features: torso.apply(params, inputs) }),
    unroll: (params, rows) => ({ features: torso.apply(params, rows.inputs) }),
  };
}
