import type { Generator, NamedArrays } from '@coplay/core';
import type { TensorRecord, tf } from '@coplay/tensor';

/** A function with parameters from a matrix to a matrix. */
export interface Layer {
  readonly outputSize: number;
  /** Fresh parameters. */
  init(generator: Generator): NamedArrays;
  /**
   * @param x [B, inputSize]
   * @returns [B, outputSize]
   */
  apply(params: TensorRecord, x: tf.Tensor2D): tf.Tensor2D;
}

/** The nonlinearities that our networks use. */
export type Activation = 'tanh' | 'relu' | 'silu' | 'linear';
