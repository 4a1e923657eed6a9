import type * as tf from '@tensorflow/tfjs-core';

/**
 * What Coplay needs of a `tf.LayersModel` of tfjs-layers. Its own type would bring tfjs-layers' declarations into ours,
 * and TypeScript refuses them in projects without `skipLibCheck`.
 */
export interface LayersModel {
  readonly trainableWeights: readonly LayersModelWeight[];
  readonly nonTrainableWeights: readonly LayersModelWeight[];
  /** Names of the inputs; none for a `Sequential` that was never called. */
  readonly inputNames: readonly string[];
  /** One for each input; its shape begins with the batch, null. */
  readonly inputs: readonly LayersModelTensor[];
  /** Names of the layers that make the outputs. */
  readonly outputNames?: readonly string[];
  /** One for each output; its shape begins with the batch, null. */
  readonly outputs: readonly LayersModelTensor[];
  /** The outputs for inputs [B, ...]. Unknown, since tfjs-layers can also return symbolic tensors. */
  apply(inputs: tf.Tensor | tf.Tensor[], options?: { training: boolean }): unknown;
}

/** An input or output of a {@link LayersModel}. */
export interface LayersModelTensor {
  readonly shape: readonly (number | null)[];
  readonly dtype?: string;
}

/** A weight of a {@link LayersModel}. */
export interface LayersModelWeight {
  readonly shape: readonly (number | null)[];
  read(): tf.Tensor;
  write(value: tf.Tensor): unknown;
}
