import { type Game, sizeOf } from '@coplay/core';
import type { InputOptions } from '@coplay/models';
import { type TensorRecord, tf } from '@coplay/tensor';
import { centredImage } from './centred';

/** What an agent sees, as tensors with the rows of a batch: fields of the observation, `mask` and `previousActions`. */
export interface SeenTensors {
  /** [B, ...shape] of each field */
  readonly fields: TensorRecord;
  /** [B, K] float32 */
  readonly mask: tf.Tensor2D;
  /** [B, A] int32; only where it's read */
  readonly previousActions?: tf.Tensor2D;
}

/**
 * What `inputEncoder(game, options)` of `@coplay/models` does on arrays, as operations on tensors: fields of rank 3 stay images, all else
 * is one `vector` [B, F] of fields, mask, previous actions and the seat.
 */
export function encodeTensors(game: Game, options: InputOptions, seat: number, seen: SeenTensors): TensorRecord {
  const { fields, mask, previousActions } = seen;
  const rows = mask.shape[0];
  const names = options.fields ?? Object.keys(game.observation);
  const encoded: TensorRecord = {};
  const parts: tf.Tensor[] = [];
  for (const name of names) {
    const { shape, channels } = game.observation[name];
    const field = tf.cast(fields[name], 'float32');
    const isCentred = options.centred && channels?.includes('self');
    if (shape.length === 3) encoded[name] = isCentred ? centredImage(game, name, field as tf.Tensor4D) : field;
    else parts.push(tf.reshape(field, [rows, sizeOf(shape)]));
  }
  if (options.mask) parts.push(mask);
  if (options.previousActions) parts.push(oneHots(previousActions!, seat, game.actions));
  if (options.agentId) parts.push(seatRows(rows, seat, game.agents.length));
  if (parts.length > 0) encoded['vector'] = parts.length === 1 ? parts[0] : tf.concat(parts, 1);
  return encoded;
}

/** [B, A] actions as [B, A K] one-hots, oneself first, then in cyclic order of seats; zeros for -1. */
function oneHots(actions: tf.Tensor2D, seat: number, K: number): tf.Tensor {
  const [rows, agents] = actions.shape;
  const own = tf.slice(actions, [0, seat], [rows, agents - seat]);
  const ordered = seat === 0 ? actions : tf.concat([own, tf.slice(actions, [0, 0], [rows, seat])], 1);
  const isAction = tf.equal(tf.expandDims(ordered, -1), tf.range(0, K, 1, 'int32'));
  return tf.reshape(tf.cast(isAction, 'float32'), [rows, agents * K]);
}

/** [B, A] the one-hot of a seat in each row. */
function seatRows(rows: number, seat: number, agents: number): tf.Tensor {
  const row = Array.from({ length: agents }, (_, i) => (i === seat ? 1 : 0));
  return tf.tile(tf.tensor2d([row]), [rows, 1]);
}
