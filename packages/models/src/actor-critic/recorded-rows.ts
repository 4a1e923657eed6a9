import type { TensorRecord, tf } from '@coplay/tensor';

/** Inputs of many steps; the last two only for recurrent networks. */
export interface RecordedRows {
  readonly inputs: TensorRecord;
  /** [B, T] */
  readonly isFirst?: tf.Tensor2D;
  /** [B, stateSize] the state that enters step 0 */
  readonly state?: tf.Tensor2D;
}
