import { type TensorRecord, tf } from '@coplay/tensor';
import type { DreamerNets } from './nets';
import type { RssmSequence, RssmState } from './sequences';

/** Recorded sequences, as the encoder and the recurrent model read them. */
export interface RecordedSequence {
  /** [B, T, ...] by name */
  readonly observations: TensorRecord;
  /** [B, T, A] codes of the actions that led here: index t holds the one taken after observation t - 1 */
  readonly actions: tf.Tensor3D;
  /** [B, T] 1 in the first step of an episode */
  readonly isFirst: tf.Tensor2D;
}

/** What {@link encodeSequence} returns. */
export interface EncodedSequence {
  /** Posterior states, differentiable */
  readonly states: RssmSequence;
  /** [B T, F] of these states */
  readonly features: tf.Tensor2D;
  /** [B T, ...] by name, as they were encoded */
  readonly observations: TensorRecord;
}

/**
 * The posterior states of a world model along recorded sequences (Hafner et al. 2023, arXiv v2, eq. 1).
 *
 * @param start the states before the first steps
 * @param noise [B, T, S] uniform in [0, 1)
 */
export function encodeSequence(
  nets: DreamerNets,
  params: TensorRecord,
  { observations: recorded, actions, isFirst }: RecordedSequence,
  start: RssmState,
  noise: tf.Tensor3D,
): EncodedSequence {
  const { enc, dyn } = nets.parts(params);
  const observations = flattened(recorded);
  const [rows, steps] = isFirst.shape;
  const tokens = tf.reshape(nets.encoder.apply(enc, observations), [
    rows,
    steps,
    nets.encoder.outputSize,
  ]) as tf.Tensor3D;
  const states = nets.rssm.observe(dyn, start, { tokens, actions, isFirst }, noise);
  return { states, features: nets.rssm.features(states), observations };
}

/** [B, T, ...] to [B T, ...] */
function flattened(record: TensorRecord): TensorRecord {
  const entries = Object.entries(record);
  return Object.fromEntries(entries.map(([name, x]) => [name, tf.reshape(x, [-1, ...x.shape.slice(2)])]));
}
